#!/bin/sh
# Makes the key that signs update bundles in development, and the authority that images trust, where there is none yet.
# usage: keys.sh DIRECTORY
set -eu
dir=$1
[ ! -e "$dir/signing.pem" ] || exit 0
umask 077
mkdir -p "$dir"
cd "$dir"
openssl req -x509 -newkey rsa:3072 -nodes -days 36500 -subj "/O=Controller development/CN=Updates" -keyout authority.key -out authority.pem \
  -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign,cRLSign 2>/dev/null
openssl req -newkey rsa:3072 -nodes -subj "/O=Controller development/CN=Signer" -keyout signing.key -out signing.csr 2>/dev/null
printf 'basicConstraints=critical,CA:false\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=emailProtection\n' >signing.ext
openssl x509 -req -in signing.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 36500 -extfile signing.ext -out signing.part 2>/dev/null
rm signing.csr signing.ext
mv signing.part signing.pem
