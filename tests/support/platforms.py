"""What the platforms' own sides are in tests: AWS' event stream and signatures, and a service that gives tokens."""

import base64
import json
import ssl
import struct
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.support.wire import Answer, Sent

AWS_STREAM = {"content-type": "application/vnd.amazon.eventstream", "x-amzn-requestid": "req-aws"}


def aws_answer(body: bytes) -> Answer:
    """An answer of Anthropic's as Bedrock packs it."""
    lines = [it.removeprefix(b"data: ") for it in body.splitlines() if it.startswith(b"data: ")]
    return Answer([aws_chunk(line) for line in lines], headers=AWS_STREAM)


def aws_chunk(event: bytes) -> bytes:
    payload = json.dumps({"bytes": base64.b64encode(event).decode()}).encode()
    return aws_frame({":event-type": "chunk", ":message-type": "event"}, payload)


def aws_exception(name: str, message: str) -> bytes:
    return aws_frame({":exception-type": name, ":message-type": "exception"}, json.dumps({"message": message}).encode())


def aws_frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    packed = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack("!H", len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack("!II", len(packed) + len(payload) + 16, len(packed))
    begun = prelude + struct.pack("!I", zlib.crc32(prelude)) + packed + payload
    return begun + struct.pack("!I", zlib.crc32(begun))


def is_signed_by(sent: Sent, url: str, secret: str, *, token: str | None = None, region: str = "us-east-1") -> bool:
    """Whether a request has the signature that botocore makes of it with this secret."""
    scheme, rest = sent.headers["authorization"].split(" ", 1)
    told = dict(it.strip().split("=", 1) for it in rest.split(","))
    key = told["Credential"].split("/")[0]
    names = told["SignedHeaders"].split(";")
    request = AWSRequest(
        "POST", f"{url}{sent.target}", {it: sent.headers[it] for it in names if it != "host"}, sent.raw
    )
    request.context["timestamp"] = sent.headers["x-amz-date"]
    signer = SigV4Auth(Credentials(key, secret, token), "bedrock", region)
    expected = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    has_token = sent.headers.get("x-amz-security-token") == token
    return scheme == "AWS4-HMAC-SHA256" and has_token and told["Signature"] == expected


class TokenService:
    """Gives `token-1`, `token-2` and so on, or refuses."""

    def __init__(self) -> None:
        self.lifetime = 3600
        self.refusal: Mapping[str, Any] | None = None
        self.given = 0
        self.url = ""

    def body(self) -> tuple[int, bytes]:
        """With its status."""
        if self.refusal is not None:
            return 400, json.dumps(self.refusal).encode()
        self.given += 1
        told = {"access_token": f"token-{self.given}", "expires_in": self.lifetime, "token_type": "Bearer"}
        return 200, json.dumps(told).encode()


class RoleService(TokenService):
    """AWS' own (STS): gives credentials of a role, `AKID1` with `secret-1` and so on."""

    def body(self) -> tuple[int, bytes]:
        self.given += 1
        keys = {"AccessKeyId": "AKID", "SecretAccessKey": "secret-", "SessionToken": "session-"}
        told = "".join(f"<{name}>{begun}{self.given}</{name}>" for name, begun in keys.items())
        told = f"<Credentials>{told}<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>"
        verb, namespace = "AssumeRoleWithWebIdentity", "https://sts.amazonaws.com/doc/2011-06-15/"
        result = f"<{verb}Result>{told}</{verb}Result>"
        return 200, f'<{verb}Response xmlns="{namespace}">{result}</{verb}Response>'.encode()


@contextmanager
def token_service(tls: ssl.SSLContext | None = None, service: TokenService | None = None) -> Iterator[TokenService]:
    service = service or TokenService()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            status, body = service.body()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *said: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}/token"
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def write_google_credentials(file: Path, tokens: TokenService) -> None:
    """Those of a service account, whose tokens come from there."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    told = {"type": "service_account", "project_id": "of-the-account", "private_key_id": "1", "private_key": pem}
    file.write_text(json.dumps({**told, "client_email": "odin@example.com", "token_uri": tokens.url}))
