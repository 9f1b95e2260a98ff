// What lies about in a person's home: one row for each kind of secret, none of which an agent or a check has any use for.
// `bin` folders are on PATH, which is how an installation could bring its owner's login along.
export const PLANTED: readonly string[] = [
  ...".ssh/id_ed25519 .ssh/id_rsa .ssh/config .ssh/known_hosts .gnupg/private-keys-v1.d/a.key .gnupg/pubring.kbx".split(
    " ",
  ),
  ...".aws/credentials .aws/config .aws/sso/cache/token.json .azure/msal_token_cache.json .config/gcloud/credentials.db".split(
    " ",
  ),
  ...".config/gcloud/application_default_credentials.json .kube/config .docker/config.json .config/gh/hosts.yml".split(
    " ",
  ),
  ...".config/hub .config/glab-cli/config.yml .netrc .npmrc .yarnrc.yml .pypirc .pgpass .my.cnf .git-credentials".split(
    " ",
  ),
  ...".config/git/credentials .vault-token .terraform.d/credentials.tfrc.json .config/doctl/config.yaml".split(" "),
  ...".config/heroku/credentials.json .config/hcloud/cli.toml .config/linode-cli .oci/config .oci/oci_api_key.pem".split(
    " ",
  ),
  ...".config/sops/age/keys.txt .config/age/keys.txt .config/nutshell/identity.txt .config/nutshell/peer.key".split(
    " ",
  ),
  ...".openclaw/clawnet/identity.key .local/state/nutshell/consent.jsonl .password-store/mail.gpg".split(" "),
  ...".claude/.credentials.json .claude.json .codex/auth.json .codex/config.toml .gemini/oauth_creds.json".split(" "),
  ...".qwen/oauth_creds.json .config/github-copilot/apps.json .config/github-copilot/hosts.json".split(" "),
  ...".local/share/opencode/auth.json .config/opencode/opencode.json .cursor/mcp.json .continue/config.json".split(" "),
  ...".config/goose/secrets.yaml .aider.conf.yml .config/zed/settings.json .codeium/config.json".split(" "),
  ...".mozilla/firefox/a.default/cookies.sqlite .mozilla/firefox/a.default/logins.json".split(" "),
  ...".mozilla/firefox/a.default/key4.db .config/google-chrome/Default/Cookies .config/chromium/Default/Cookies".split(
    " ",
  ),
  ...".config/BraveSoftware/Brave-Browser/Default/Cookies .config/Slack/Cookies .config/discord/Cookies".split(" "),
  ...".config/Signal/config.json .thunderbird/a.default/logins.json .local/share/keyrings/login.keyring".split(" "),
  ...".local/share/kwalletd/kdewallet.kwl .config/keepassxc/keepassxc.ini passwords.kdbx .electrum/wallets/default".split(
    " ",
  ),
  ...".bitcoin/wallet.dat .ethereum/keystore/UTC--1 .config/solana/id.json .near-credentials/mainnet/a.json".split(" "),
  ...".bash_history .zsh_history .python_history .node_repl_history .psql_history .bashrc .profile .gitconfig".split(
    " ",
  ),
  ...".config/rclone/rclone.conf .config/filezilla/sitemanager.xml .config/ngrok/ngrok.yml .wg/wg0.conf".split(" "),
  ...".cargo/credentials.toml .cargo/credentials .m2/settings.xml .gradle/gradle.properties .composer/auth.json".split(
    " ",
  ),
  ...".gem/credentials .nuget/NuGet/NuGet.Config .config/pip/pip.conf .local/share/uv/credentials/a.toml".split(" "),
  ...".fly/config.yml .pulumi/credentials.json .foundry/keystores/main .supabase/access-token".split(" "),
  ...".cache/huggingface/token .kaggle/kaggle.json .config/wandb/settings .databrickscfg .snowsql/config".split(" "),
  ...".jupyter/jupyter_server_config.json Documents/taxes.txt notes/plan.md work/shop/.env work/shop/.env.local".split(
    " ",
  ),
  ...(
    "work/shop/config/master.key work/shop/src/app.js work/tool/.env work/tool/.git/config " +
    "work/linked/.env work/linked/.npmrc .dotfiles/secrets.sh"
  ).split(" "),
];

/** Folders of the same home that are on PATH. */
export const ON_PATH = [
  ".fly/bin",
  ".pulumi/bin",
  ".foundry/bin",
  ".supabase/bin",
  ".docker/bin",
  ".cargo/bin",
  ".local/bin",
  "bin",
  "work/tool/bin",
];
