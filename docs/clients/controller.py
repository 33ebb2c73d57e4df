"""A client of the controller's public API, for Python 3.9 and newer; nothing but the standard library.

As a module:

    from controller import Controller
    with open("key") as f:
        house = Controller("https://controller.local:8443", "controller.pem", key=f.read().strip())
    house.dim(40, cluster=1)
    print(house.shades())

As a program it lists what there is; CONTROLLER_URL, CONTROLLER_CA (file with the controller's
certificate) and CONTROLLER_KEY (made with: controllerd key add NAME --write) are in its environment.
"""

import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request


class Refused(Exception):
    """The controller did not do what was asked, or not everywhere; its message says what and where."""


class Controller:
    """One controller. All calls wait for their answer: reads take milliseconds, commands up to ten seconds."""

    def __init__(self, url, ca, key=None, username=None, password=None, timeout=20):
        """url is as in a browser; ca is the file with the certificate. Give a key, or username and password."""
        self._api = url.rstrip("/") + "/svc/api/"
        self._trust = ssl.create_default_context(cafile=ca)
        self._timeout = timeout
        self._token = key
        self._login = {"username": username, "password": password}
        self._etags = {}  # address → (ETag, what it answered)

    def clusters(self):
        return self._get("getClusters")

    def nodes(self, cluster=None):
        """Nodes of a cluster, or all that are online."""
        return self._get("getNodesForCluster", clusterId=cluster) if cluster else self._get("getActiveNodes")

    def shades(self, cluster=None):
        return self._get("getShadesForCluster", clusterId=cluster) if cluster else self._get("getShades")

    def levels(self):
        """Everything that lights and shades show. Poll as often as you like: what has not changed is not sent again."""
        return self._get("getLightLevels")

    def switch(self, on, **where):
        self._command("channelControl", where, command="ON" if on else "OFF")

    def dim(self, percent, **where):
        """where is nothing for everything, cluster=ID, or node=ID."""
        self._command("channelControl", where, command="DIM", dimLevel=percent)

    def kelvin(self, kelvin, **where):
        self._command("setColorTemp", where, colorTemp=kelvin)

    def shade(self, to, **where):
        """to is "UP", "DOWN", "STOP" or percent open; where is nothing, cluster=ID, or shade=ID."""
        what = {"command": to} if isinstance(to, str) else {"command": "POS", "posValue": to}
        self._command("shadeControl", where, **what)

    def wait(self, shade, longest=300):
        """Where a shade stands once it does not move any more, in percent open; None: nobody knows."""
        end = time.monotonic() + longest
        while time.monotonic() < end:
            found = [s for s in self.shades() if s["id"] == shade]
            if not found:
                raise Refused(f"there is no shade {shade}")
            if found[0]["shadeState"] in ("STOPPED", "UNKNOWN"):
                return found[0]["shadeLevel"]
            time.sleep(0.5)
        raise Refused(f"shade {shade} moves after {longest} s still")

    def _command(self, call, where, **what):
        if len(where) > 1:
            raise ValueError("name one cluster, node or shade, or nothing for everything")
        body = {"targetType": 1, "targetId": 0, **what}
        for kind, target in where.items():
            body |= {"targetType": {"cluster": 2, "node": 3, "shade": 3}[kind], "targetId": target}
        answer = self._ask(call, body)
        if answer.get("status") != 1:
            raise Refused(answer.get("message") or "refused")

    def _get(self, call, **query):
        return self._ask(call + ("?" + urllib.parse.urlencode(query) if query else ""))

    def _ask(self, call, body=None, again=True):
        if not self._token:
            self._token = self._authenticate()
        request = urllib.request.Request(self._api + call, json.dumps(body).encode() if body is not None else None)
        request.add_header("Authorization", "Bearer " + self._token)
        known = self._etags.get(call)
        if known and body is None:
            request.add_header("If-None-Match", known[0])
        try:
            with urllib.request.urlopen(request, timeout=self._timeout, context=self._trust) as r:
                answer = json.load(r)
                if body is None and r.headers["ETag"]:
                    self._etags[call] = (r.headers["ETag"], answer)
                return answer
        except urllib.error.HTTPError as e:
            if e.code == 304:
                return known[1]
            if e.code == 401 and again and self._login["username"]:
                self._token = None  # it lives an hour
                return self._ask(call, body, again=False)
            text = e.read().decode(errors="replace")
            raise Refused(f"{call}: {e.code} {text or e.reason}") from None

    def _authenticate(self):
        request = urllib.request.Request(self._api + "authenticate", json.dumps(self._login).encode())
        with urllib.request.urlopen(request, timeout=self._timeout, context=self._trust) as r:
            answer = json.load(r)
        if answer["responseCode"] != 1:
            raise Refused(f"log in as {self._login['username']}: wrong name or password")
        return answer["auth_token"]


if __name__ == "__main__":
    try:
        house = Controller(os.environ["CONTROLLER_URL"], os.environ["CONTROLLER_CA"], key=os.environ["CONTROLLER_KEY"])
        for c in house.clusters():
            print(f"cluster {c['id']:>5}  {c['name']:<30} light {c['dimLevel']}  shades {c['shadeLevel']}")
        for n in house.nodes():
            print(f"node    {n['id']:>5}  {n['name']:<30} {n['dimLevel']} %")
        for s in house.shades():
            print(f"shade   {s['id']:>5}  {s['name']:<30} {s['shadeLevel']} % open, {s['shadeState'].lower()}")
    except KeyError as e:
        sys.exit(f"set {e.args[0]}; see the beginning of this file")
    except (OSError, Refused) as e:
        sys.exit(f"controller: {e}")
