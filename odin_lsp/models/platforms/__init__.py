"""Claude and Gemini where more than an API key is needed. The providers' SDKs find, refresh and sign the credentials,
and send; bodies, answers and faults are those of `models/anthropic.py` and `models/google.py`."""
