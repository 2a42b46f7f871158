"""Which platforms there are, whose models they have, and by what one knows that somebody uses them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from odin_lsp.config import Config


@dataclass(frozen=True, slots=True)
class Platform:
    title: str
    makers: tuple[str, ...]
    """Providers whose models it has, by the first words of their names."""
    signs: tuple[str, ...]
    """Variables of which one is set where somebody uses it."""
    setting: str
    """Of `platforms`, which says the same."""
    sign_in: str
    """What to do if there are no credentials, or they do not hold any more."""
    naming: str
    """How it names its makers' models."""
    variables: tuple[str, ...] = ()
    """Others that say where it is, and as whom."""


EXPRESS_KEY = "GOOGLE_VERTEX_API_KEY"
"""A variable with a key of Vertex AI's: with it Gemini is asked without project, location and credentials."""
PLATFORMS: Mapping[str, Platform] = {
    "bedrock": Platform(
        "Amazon Bedrock",
        ("anthropic",),
        (
            "AWS_BEARER_TOKEN_BEDROCK",
            "AWS_PROFILE",
            "AWS_ACCESS_KEY_ID",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        ),
        "profile",
        "sign in with `aws sso login`, or set AWS_PROFILE, AWS_ACCESS_KEY_ID or AWS_BEARER_TOKEN_BEDROCK",
        "anthropic.{}",
        (
            *("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CONFIG_FILE"),
            *("AWS_SHARED_CREDENTIALS_FILE", "AWS_ROLE_ARN", "ANTHROPIC_BEDROCK_BASE_URL"),
        ),
    ),
    "vertex": Platform(
        "Google Vertex AI",
        ("anthropic", "google"),
        ("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS", EXPRESS_KEY),
        "project",
        "sign in with `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS, or for Gemini"
        f" {EXPRESS_KEY}",
        "{}",
        (
            *("CLOUD_ML_REGION", "GOOGLE_CLOUD_LOCATION", "CLOUDSDK_CONFIG"),
            *("ANTHROPIC_VERTEX_BASE_URL", "GOOGLE_VERTEX_BASE_URL"),
        ),
    ),
    "foundry": Platform(
        "Microsoft Foundry",
        ("anthropic",),
        ("ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_BASE_URL"),
        "resource",
        "set ANTHROPIC_FOUNDRY_API_KEY, or install azure-identity and sign in with `az login`",
        "{}",
        ("AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PATH"),
    ),
}


def makers_on(platform: str, config: Config) -> tuple[str, ...]:
    """Whose models somebody can ask there: a key of Vertex AI's is for Google's own."""
    return ("google",) if sign_of(platform, config) == EXPRESS_KEY else PLATFORMS[platform].makers


def sign_of(platform: str, config: Config) -> str:
    """By what one knows that somebody uses it: a variable or a setting; empty if by nothing."""
    known = PLATFORMS[platform]
    if getattr(getattr(config.platforms, platform), known.setting):
        return f"platforms.{platform}.{known.setting}"
    return next((name for name in known.signs if os.environ.get(name)), "")
