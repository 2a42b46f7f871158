"""What an account has: its models, whether its key is good, how many tokens a request has. The providers' SDKs say it,
in a process that ends after its answer: importing one takes longer than all of Odin, and as much memory."""
