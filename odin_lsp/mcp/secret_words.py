"""Words by which people are asked for a secret, in whatever they are dressed up: what is judged is what is read."""

import re
import unicodedata

from odin_lsp.redaction import SECRET_NAME
from odin_lsp.web.untrusted import visible

_LATIN = (
    *("password", "passwd", "pass word", "passphrase", "pass phrase", "passcode", "pass code", "passkey"),
    *("credential", "bearer", "cookie", "session id", "mnemonic", "access token", "api token", "auth token"),
    *("api key", "access key", "private key", "secret key", "ssh key", "gpg key", "pgp key", "signing key"),
    *("encryption key", "master key", "recovery key", "license key", "licence key", "service account"),
    *("one time code", "one time pass", "one time pin", "one time token", "verification code", "security code"),
    *("confirmation code", "authentication code", "auth code", "authorization code", "authenticator", "login code"),
    *("sign in code", "sms code", "access code", "unlock code", "recovery code", "backup code", "pin code"),
    *("pin number", "two factor", "2 factor", "seed phrase", "seed word", "recovery phrase", "wallet phrase"),
    *("connection string", "conn str", "card number", "account number", "security question", "maiden name"),
    *("social security", "client secret"),
    *("passwort", "kennwort", "losungswort", "geheim", "zugangsdaten", "zugangscode", "einmalcode"),
    *("bestatigungscode", "sicherheitscode", "kartennummer"),
    *("mot de passe", "code secret", "cle api", "cle d api", "cle privee", "cle ssh", "jeton", "phrase secrete"),
    *("code de verification", "code de securite", "identifiants", "numero de carte"),
    *("contrasena", "clave", "codigo de verificacion", "codigo de seguridad", "frase semilla"),
    *("numero de tarjeta", "credencial", "secreto"),
    *("senha", "palavra passe", "chave de api", "chave privada", "codigo de verificacao", "segredo"),
    *("chiave api", "chiave privata", "codice di verifica", "codice segreto", "segreto", "credenziali", "parola"),
    *("wachtwoord", "toegangscode", "verificatiecode", "losenord", "adgangskode", "kodeord", "passord"),
    *("engangskod", "salasana", "hasło", "haslo", "klucz api", "klucz prywatny", "kod weryfikacyjny", "heslo"),
    *("jelszo", "sifre", "dogrulama kodu", "lozinka", "mat khau", "ma xac nhan", "kata sandi", "kode verifikasi"),
)
"""Without accents, as they are compared."""
_OTHER_SCRIPTS = (
    *(
        "парол",
        "секрет",
        "токен",
        "api ключ",
        "ключ api",
        "приватный ключ",
        "закрытый ключ",
        "код подтверждения",
        "одноразовый код",
        "гасло",
    ),
    *("密码", "密碼", "口令", "令牌", "密钥", "密鑰", "金鑰", "私钥", "私鑰", "验证码", "驗證碼", "助记词", "助記詞"),
    *("パスワード", "暗証番号", "トークン", "秘密鍵", "認証コード", "確認コード", "合言葉", "シークレット"),
    *("비밀번호", "암호", "토큰", "인증번호", "인증 코드", "비밀 키", "개인 키"),
    *("كلمة المرور", "كلمة السر", "رمز التحقق", "رمز مميز", "סיסמה", "סיסמא", "קוד אימות"),
    *("κωδικός", "συνθηματικό", "पासवर्ड", "कूटशब्द", "ओटीपी", "รหัสผ่าน", "گذرواژه", "رمز عبور"),
)
_EXACT = "secret secrets token tokens pin pins otp otps totp hotp mfa 2fa cvv cvv2 cvc cvc2 ssn dsn pwd psw jwt tan puk"
_OWN_KEY = r"\b(?:your|my) (?:\w+ ){0,2}keys?\b|^keys?$"
_LONG = 7
"""Letters of a word that is found within others, too: shorter ones are parts of harmless words."""
_LOOKS_LIKE = str.maketrans("аеіорсухһкмтвнјѕԁɡαεικνορτυχ0134578@$!|", "aeiopcyxhkmtbhjsdgaeiknoptyxoieastbasil")
"""Letters of other scripts, and signs that stand for letters."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BETWEEN = re.compile(r"[\W_]+")
_COUNTED = re.compile(r"\b(?:max(?:imum)?|min(?:imum)?|number of|how many) (?:\w+ )?tokens\b")


def fold(text: str) -> str:
    """The text as it is read: without what nobody sees, and without what makes no difference to readers."""
    plain = unicodedata.normalize("NFKC", visible(text)[0])
    letters = unicodedata.normalize("NFKD", _HUMP.sub(" ", plain).casefold())
    return "".join(it for it in letters if unicodedata.category(it) != "Mn")


_PHRASES = [_BETWEEN.sub(" ", fold(it)).strip() for it in _LATIN]
_WORD = re.compile(rf"\b(?:{'|'.join(_PHRASES)})|\b(?:{'|'.join(_EXACT.split())})\b|{_OWN_KEY}")
_WITHIN = re.compile(
    "|".join(
        [joined for it in _PHRASES if len(joined := it.replace(" ", "")) >= _LONG]
        + [_BETWEEN.sub("", fold(it)) for it in _OTHER_SCRIPTS]
    )
)


def asks_for_secret(text: str, *, is_number: bool = False) -> bool:
    """`is_number`: what is asked for is one, so that tokens may be counted."""
    folded = fold(text)
    for reading in {folded, folded.translate(_LOOKS_LIKE)}:
        spaced = _BETWEEN.sub(" ", reading).strip()
        if is_number:
            spaced = _COUNTED.sub(" ", spaced)
        if _WORD.search(spaced) or _WITHIN.search(spaced.replace(" ", "")):
            return True
    return False


def names_secret(name: str, *, is_number: bool = False) -> bool:
    """The same of the name of a field, which is written as variables are."""
    plain = _BETWEEN.sub(" ", fold(name))
    plain = (_COUNTED.sub(" ", plain) if is_number else plain).strip().replace(" ", "_")
    return asks_for_secret(name, is_number=is_number) or bool(SECRET_NAME.search(plain))
