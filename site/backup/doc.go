// Package backup is the one file that a controller can be restored from.
//
//	"controllerd backup 1\n"     21 bytes, unless it is encrypted (age)
//	tar                          database; profiles/…; tls/certificate.pem, tls/key.pem
//	SHA-256                      32 bytes, over everything before
//
// Encrypted, all of that lies in an age file (age-encryption.org/v1), with a passphrase or to a public key
// (X25519), which any age program opens. A file is believed whole or not at all.
package backup
