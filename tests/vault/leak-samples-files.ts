/**
 * Long because: it is a table. Leak samples as they stand in files, by somebody who had not read the rules: at first 194 of
 * these 216 were found. Every value is drawn at run time from a seed, so no secret stands in this file itself.
 */
import { createHash } from "node:crypto";

export interface FileSample {
  readonly provider: string;
  readonly file: string;
  readonly text: string;
}

let drawn = 0;
const next = (): number => createHash("sha256").update(`20261117:${drawn++}`).digest().readUInt32BE(0);
const pick = (from: string, length: number): string =>
  Array.from({ length }, () => from[next() % from.length]).join("");
const U = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const L = U.toLowerCase();
const D = "0123456789";
const H = `${D}abcdef`;
const AN = U + L + D;
const ANL = L + D;
const ANU = U + D;
const B64 = `${AN}+/`;
const URL = `${AN}-_`;
const B32 = `${U}234567`;
const uuid = (): string => `${pick(H, 8)}-${pick(H, 4)}-4${pick(H, 3)}-${pick("89ab", 1)}${pick(H, 3)}-${pick(H, 12)}`;
const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => next() & 255));
const b64 = (length: number): string => bytes(length).toString("base64");
const b64u = (length: number): string => bytes(length).toString("base64url");
const lines = (text: string, width = 64): string => (text.match(new RegExp(`.{1,${width}}`, "g")) ?? []).join("\n");
const jwt = (claims: object): string =>
  [{ alg: "HS256", typ: "JWT" }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".")
    .concat(".", b64u(32));

export const FILE_SAMPLES: FileSample[] = [];
const sample = (provider: string, file: string, text: string): void => {
  FILE_SAMPLES.push({ provider, file, text });
};

// clouds
sample(
  "aws",
  "deploy.sh",
  `export AWS_ACCESS_KEY_ID=AKIA${pick(B32, 16)}\nexport AWS_SECRET_ACCESS_KEY=${pick(B64, 40)}\n`,
);
sample(
  "aws",
  "config.py",
  `client = boto3.client("s3", aws_access_key_id="AKIA${pick(B32, 16)}", aws_secret_access_key="${pick(B64, 40)}")\n`,
);
sample("aws-bedrock", ".env.local", `AWS_BEARER_TOKEN_BEDROCK=ABSK${b64(96)}\n`);
sample("aws-secret-only", "app.yaml", `aws:\n  secret_access_key: ${pick(B64, 40)}\n`);
sample("gcp", "map.html", `<script src="https://maps.googleapis.com/maps/api/js?key=AIza${pick(URL, 35)}"></script>\n`);
sample(
  "gcp-service",
  "key.json",
  JSON.stringify(
    {
      type: "service_account",
      project_id: "harbor-prod",
      private_key_id: pick(H, 40),
      private_key: `-----BEGIN PRIVATE KEY-----\n${lines(b64(1200))}\n-----END PRIVATE KEY-----\n`,
      client_email: "x@harbor-prod.iam.gserviceaccount.com",
    },
    null,
    1,
  ),
);
sample(
  "google-oauth",
  "client.json",
  JSON.stringify({
    web: {
      client_id: `${pick(D, 12)}-${pick(ANL, 32)}.apps.googleusercontent.com`,
      client_secret: `GOCSPX-${pick(URL, 28)}`,
    },
  }),
);
sample(
  "google-oauth-token",
  "token.json",
  JSON.stringify({ access_token: `ya29.a0Af${pick(URL, 170)}`, refresh_token: `1//0${pick(URL, 100)}` }),
);
sample(
  "azure-storage",
  "appsettings.json",
  JSON.stringify({
    ConnectionStrings: {
      Blob: `DefaultEndpointsProtocol=https;AccountName=harborlogs;AccountKey=${b64(64)};EndpointSuffix=core.windows.net`,
    },
  }),
);
sample("azure-ad", "settings.ini", `[azure]\ntenant = ${uuid()}\nclient_secret = ${pick(AN, 3)}8Q~${pick(URL, 34)}\n`);
sample(
  "azure-sas",
  "download.sh",
  `curl "https://harbor.blob.core.windows.net/dumps/a.tar?sv=2024-11-04&ss=b&srt=sco&sp=rl&se=2027-01-01T00:00:00Z&sig=${encodeURIComponent(b64(32))}"\n`,
);
sample(
  "azure-servicebus",
  "worker.cs",
  `var cs = "Endpoint=sb://harbor.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=${b64(32)}";\n`,
);
sample("azure-cosmos", "x.env", `COSMOS_KEY=${b64(64)}\n`);
sample("azure-devops", "pipeline.yml", `variables:\n  AZURE_DEVOPS_EXT_PAT: ${pick(ANL, 52)}\n`);
sample(
  "azure-openai",
  "main.py",
  `AZURE_OPENAI_API_KEY = "${pick(AN, 52)}JQQJ99BDACYeBjFXJ3w3AAABACOG${pick(AN, 4)}"\n`,
);
sample("digitalocean", "terraform.tfvars", `do_token = "dop_v1_${pick(H, 64)}"\n`);
sample("digitalocean-oauth", "a.txt", `doo_v1_${pick(H, 64)}`);
sample("heroku", "Makefile", `HEROKU_API_KEY=HRKU-AA${pick(URL, 58)}\n`);
sample("heroku-old", ".netrc.bak", `machine api.heroku.com\n  login a@b.io\n  password ${uuid()}\n`);
sample(
  "alibaba",
  "oss.go",
  `client, err := oss.New("https://oss-cn-hangzhou.aliyuncs.com", "LTAI5t${pick(AN, 18)}", "${pick(AN, 30)}")\n`,
);
sample(
  "tencent",
  "cos.js",
  `const cos = new COS({ SecretId: "AKID${pick(AN, 32)}", SecretKey: "${pick(AN, 32)}" });\n`,
);
sample("hetzner", "main.tf", `provider "hcloud" {\n  token = "${pick(AN, 64)}"\n}\n`);
sample("linode", "ansible.yml", `linode_token: ${pick(H, 64)}\n`);
sample("vultr", "up.sh", `VULTR_API_KEY="${pick(ANU, 36)}"\n`);
sample("scaleway", "scw.yaml", `access_key: SCW${pick(ANU, 17)}\nsecret_key: ${uuid()}\n`);
sample("cloudflare", "wrangler.env", `CLOUDFLARE_API_TOKEN=${pick(URL, 40)}\n`);
sample("cloudflare-ca", "ca.txt", `origin_ca_key = v1.0-${pick(H, 24)}-${pick(H, 146)}\n`);
sample(
  "cloudflare-global",
  "cf.sh",
  `curl -H "X-Auth-Email: a@b.io" -H "X-Auth-Key: ${pick(H, 37)}" https://api.cloudflare.com/client/v4/zones\n`,
);
sample("fly", "fly.env", `FLY_API_TOKEN="FlyV1 fm2_${b64(300)}"\n`);
sample("vercel", "ci.yml", `      VERCEL_TOKEN: ${pick(AN, 24)}\n`);
sample("netlify", "deploy.yml", `    env:\n      NETLIFY_AUTH_TOKEN: nfp_${pick(AN, 36)}\n`);
sample("render", "r.sh", `curl -H "Authorization: Bearer rnd_${pick(AN, 28)}" https://api.render.com/v1/services\n`);
sample("railway", ".env.prod", `RAILWAY_TOKEN=${uuid()}\n`);
sample("supabase", "supabase.ts", `const admin = createClient(url, "sb_secret_${pick(URL, 22)}_${pick(AN, 8)}");\n`);
sample("supabase-pat", "su.sh", `export SUPABASE_ACCESS_TOKEN=sbp_${pick(H, 40)}\n`);
sample(
  "supabase-jwt",
  "sb.ts",
  `export const SERVICE = "${jwt({ iss: "supabase", ref: pick(L, 20), role: "service_role", iat: 1700000000, exp: 2015576000 })}";\n`,
);
sample("neon", "neon.env", `NEON_API_KEY=napi_${pick(ANL, 64)}\n`);
sample(
  "neon-url",
  "db.ts",
  `const sql = neon("postgresql://harbor_owner:npg_${pick(AN, 12)}@ep-cool-${pick(ANL, 8)}.eu-central-1.aws.neon.tech/harbor?sslmode=require");\n`,
);
sample("planetscale", "ps.txt", `pscale_tkn_${pick(URL, 43)}`);
sample("planetscale-pw", "config/database.yml", `  password: pscale_pw_${pick(URL, 43)}\n`);
sample(
  "mongodb",
  "server.js",
  `mongoose.connect("mongodb+srv://api:${pick(AN, 16)}@cluster0.${pick(ANL, 5)}.mongodb.net/prod");\n`,
);
sample(
  "redis",
  "cache.py",
  `r = redis.from_url("rediss://default:${pick(AN, 24)}@eu1-fast-cat-30412.upstash.io:6379")\n`,
);
sample("amqp", "broker.rb", `Bunny.new("amqps://svc:${pick(AN, 20)}@b-1.mq.eu-west-1.amazonaws.com:5671")\n`);
sample("mysql", "dsn.go", `db, _ := sql.Open("mysql", "app:${pick(AN, 18)}@tcp(db.harbor.io:3306)/prod")\n`);
sample("jdbc", "hibernate.properties", `url=jdbc:postgresql://db.harbor.io/prod?user=app&password=${pick(AN, 20)}\n`);
sample(
  "mssql",
  "Web.config",
  `<add name="Db" connectionString="Server=tcp:harbor.database.windows.net,1433;Database=prod;User ID=sa;Password=${pick(AN, 9)}!${pick(AN, 9)};Encrypt=True;" />\n`,
);
sample("upstash", "u.env", `UPSTASH_REDIS_REST_TOKEN=AX${pick(AN, 50)}Q==\n`);
// code hosts
sample("github", "clone.sh", `git clone https://x-access-token:ghs_${pick(AN, 36)}@github.com/harbor/app\n`);
sample("github-pat", "gh.env", `GH_TOKEN=github_pat_${pick(AN, 22)}_${pick(AN, 59)}\n`);
sample("github-classic", "n.yml", `token: ghp_${pick(AN, 36)}\n`);
sample(
  "gitlab",
  ".gitlab-ci.yml",
  `  script:\n    - curl --header "PRIVATE-TOKEN: glpat-${pick(URL, 20)}" https://gitlab.com/api/v4/projects\n`,
);
sample("gitlab-new", "t.txt", `glpat-${pick(URL, 27)}.01.${pick(ANL, 9)}`);
sample("gitlab-runner", "config.toml", `[[runners]]\n  token = "glrt-${pick(URL, 20)}"\n`);
sample("gitlab-deploy", "d.sh", `docker login -u deployer -p gldt-${pick(URL, 20)} registry.gitlab.com\n`);
sample(
  "gitlab-trigger",
  "tr.sh",
  `curl -F token=glptt-${pick(H, 40)} https://gitlab.com/api/v4/projects/1/trigger/pipeline\n`,
);
sample("bitbucket", "bb.env", `BITBUCKET_APP_PASSWORD=ATBB${pick(AN, 32)}\n`);
sample(
  "atlassian",
  "jira.py",
  `jira = JIRA(server=S, basic_auth=("a@b.io", "ATATT3xFfGF0${pick(URL, 170)}=${pick(ANU, 8)}"))\n`,
);
sample("gitea", "gt.sh", `export GITEA_TOKEN=${pick(H, 40)}\n`);
sample("codeberg-forgejo", "fj.yml", `forgejo_token: ${pick(H, 40)}\n`);
sample("sourcegraph", "sg.env", `SRC_ACCESS_TOKEN=sgp_${pick(H, 16)}_${pick(H, 40)}\n`);
// packages
sample("npm", ".npmrc.ci", `//registry.example.org/:_authToken=npm_${pick(AN, 36)}\n`);
sample("pypi", ".pypirc.bak", `[pypi]\nusername = __token__\npassword = pypi-AgEIcHlwaS5vcmc${pick(URL, 150)}\n`);
sample("rubygems", "gem.sh", `GEM_HOST_API_KEY=rubygems_${pick(H, 48)}\n`);
sample("crates", "cargo.toml.bak", `[registry]\ntoken = "cio${pick(AN, 32)}"\n`);
sample("nuget", "push.cmd", `dotnet nuget push *.nupkg -k oy2${pick(ANL, 43)} -s nuget\n`);
sample("dockerhub", "docker.sh", `echo dckr_pat_${pick(URL, 27)} | docker login -u harbor --password-stdin\n`);
sample(
  "docker-config",
  "docker.json",
  JSON.stringify({ auths: { "ghcr.io": { auth: Buffer.from(`harbor:${pick(AN, 24)}`).toString("base64") } } }),
);
sample("jfrog", "art.env", `ARTIFACTORY_TOKEN=cmVmdGtuOjAxOj${pick(AN, 50)}\n`);
sample("jfrog-key", "a2.env", `JF_API_KEY=AKCp8${pick(AN, 68)}\n`);
sample("clojars", "cl.edn", `:password "CLOJARS_${pick(H, 60)}"\n`);
sample("hex", "h.sh", `HEX_API_KEY=${pick(H, 32)}\n`);
sample(
  "maven",
  "settings.xml",
  `<server><id>ossrh</id><username>ab</username><password>${pick(AN, 44)}</password></server>\n`,
);
// AI
sample("anthropic", "a.py", `client = Anthropic(api_key="sk-ant-api03-${pick(URL, 93)}AA")\n`);
sample("anthropic-admin", "b.env", `ANTHROPIC_ADMIN_KEY=sk-ant-admin01-${pick(URL, 93)}AA\n`);
sample("anthropic-oauth", "c.env", `CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-${pick(URL, 86)}AA\n`);
sample("openai", "d.ts", `new OpenAI({ apiKey: "sk-proj-${pick(URL, 74)}T3BlbkFJ${pick(URL, 74)}" })\n`);
sample("openai-svc", "e.txt", `sk-svcacct-${pick(URL, 74)}T3BlbkFJ${pick(URL, 74)}`);
sample("openrouter", "f.env", `OPENROUTER_API_KEY=sk-or-v1-${pick(H, 64)}\n`);
sample("groq", "g.js", `groq = new Groq({apiKey:'gsk_${pick(AN, 52)}'})\n`);
sample("xai", "x.sh", `export XAI_API_KEY=xai-${pick(AN, 80)}\n`);
sample("perplexity", "p.env", `PPLX=pplx-${pick(AN, 48)}\n`);
sample("huggingface", "hf.py", `login(token="hf_${pick(AN, 34)}")\n`);
sample("replicate", "rep.py", `REPLICATE_API_TOKEN = "r8_${pick(AN, 37)}"\n`);
sample("mistral", "m.env", `MISTRAL_API_KEY=${pick(AN, 32)}\n`);
sample("cohere", "co.py", `co = cohere.Client("${pick(AN, 40)}")  # cohere api key\n`);
sample("cohere-env", "co.env", `COHERE_API_KEY=${pick(AN, 40)}\n`);
sample("deepseek", "ds.env", `DEEPSEEK_API_KEY=sk-${pick(H, 32)}\n`);
sample("fireworks", "fw.env", `FIREWORKS_API_KEY=fw_${pick(AN, 24)}\n`);
sample("together", "tg.env", `TOGETHER_API_KEY=${pick(H, 64)}\n`);
sample("elevenlabs", "el.py", `client = ElevenLabs(api_key="sk_${pick(H, 48)}")\n`);
sample("pinecone", "pc.py", `pc = Pinecone(api_key="pcsk_${pick(AN, 6)}_${pick(AN, 64)}")\n`);
sample("langsmith", "ls.env", `LANGSMITH_API_KEY=lsv2_pt_${pick(H, 32)}_${pick(H, 10)}\n`);
sample("wandb", "w.env", `WANDB_API_KEY=${pick(H, 40)}\n`);
sample("langfuse", "lf.env", `LANGFUSE_SECRET_KEY=sk-lf-${uuid()}\n`);
sample("tavily", "tv.env", `TAVILY_API_KEY=tvly-dev-${pick(AN, 32)}\n`);
sample("exa-firecrawl", "fc.env", `FIRECRAWL_API_KEY=fc-${pick(H, 32)}\n`);
sample("nvidia", "nv.env", `NVIDIA_API_KEY=nvapi-${pick(URL, 64)}\n`);
sample("cursor", "cu.env", `CURSOR_API_KEY=key_${pick(H, 64)}\n`);
sample("voyage", "vy.env", `VOYAGE_API_KEY=pa-${pick(URL, 43)}\n`);
sample(
  "jina",
  "ji.sh",
  `curl -H "Authorization: Bearer jina_${pick(H, 32)}${pick(URL, 28)}" https://api.jina.ai/v1/embeddings\n`,
);
// chat
sample("slack-bot", "bot.js", `const web = new WebClient("xoxb-${pick(D, 12)}-${pick(D, 13)}-${pick(AN, 24)}");\n`);
sample("slack-app", "s.env", `SLACK_APP_TOKEN=xapp-1-A0${pick(ANU, 9)}-${pick(D, 13)}-${pick(H, 64)}\n`);
sample(
  "slack-hook",
  "notify.sh",
  `curl -d '{}' https://hooks.slack.com/services/T0${pick(ANU, 9)}/B0${pick(ANU, 9)}/${pick(AN, 24)}\n`,
);
sample("slack-cookie", "u.txt", `xoxc-${pick(D, 12)}-${pick(D, 12)}-${pick(D, 12)}-${pick(H, 64)}`);
sample("discord-bot", "bot.py", `bot.run("MTE${pick(AN, 23)}.G${pick(URL, 5)}.${pick(URL, 38)}")\n`);
sample("discord-hook", "hook.ts", `fetch("https://discord.com/api/webhooks/${pick(D, 19)}/${pick(URL, 68)}")\n`);
sample("telegram", "tg.rs", `let bot = Bot::new("${pick("123456789", 1)}${pick(D, 9)}:AA${pick(URL, 33)}");\n`);
sample(
  "teams",
  "teams.ps1",
  `$u = "https://harbor.webhook.office.com/webhookb2/${uuid()}@${uuid()}/IncomingWebhook/${pick(H, 32)}/${uuid()}"\n`,
);
sample("line", "line.env", `LINE_CHANNEL_ACCESS_TOKEN=${b64(128)}\n`);
sample("twilio", "tw.py", `Client("AC${pick(H, 32)}", "${pick(H, 32)}")  # twilio\n`);
sample("twilio-key", "tw.env", `TWILIO_API_KEY=SK${pick(H, 32)}\nTWILIO_API_SECRET=${pick(AN, 32)}\n`);
sample("sendgrid", "sg.rb", `SENDGRID = 'SG.${pick(URL, 22)}.${pick(URL, 43)}'\n`);
sample("mailgun", "mg.env", `MAILGUN_API_KEY=key-${pick(H, 32)}\n`);
sample("mailgun-new", "mg2.env", `MAILGUN_SENDING_KEY=${pick(H, 32)}-${pick(H, 8)}-${pick(H, 8)}\n`);
sample("mailchimp", "mc.php", `$mc->setKey('${pick(H, 32)}-us21');\n`);
sample("postmark", "pm.env", `POSTMARK_SERVER_TOKEN=${uuid()}\n`);
sample("brevo", "br.js", `apiKey.apiKey = "xkeysib-${pick(H, 64)}-${pick(AN, 16)}";\n`);
sample("resend", "re.ts", `const resend = new Resend("re_${pick(AN, 8)}_${pick(AN, 24)}");\n`);
sample("intercom", "ic.env", `INTERCOM_ACCESS_TOKEN=dG9r${pick(AN, 56)}=\n`);
// money
sample("stripe", "pay.rb", `Stripe.api_key = "sk_live_51${pick(AN, 97)}"\n`);
sample("stripe-rk", "pay.env", `STRIPE_RESTRICTED=rk_live_51${pick(AN, 97)}\n`);
sample("stripe-wh", "wh.env", `STRIPE_WEBHOOK_SECRET=whsec_${pick(AN, 32)}\n`);
sample("square", "sq.env", `SQUARE_ACCESS_TOKEN=EAAA${pick(URL, 60)}\n`);
sample("paypal", "pp.env", `PAYPAL_CLIENT_SECRET=E${pick(URL, 79)}\n`);
sample("braintree", "bt.txt", `access_token$production$${pick(ANL, 16)}$${pick(H, 32)}`);
sample("plaid", "pl.env", `PLAID_SECRET=${pick(H, 30)}\n`);
sample("razorpay", "rz.js", `new Razorpay({ key_id: "rzp_live_${pick(AN, 14)}", key_secret: "${pick(AN, 24)}" })\n`);
sample("adyen", "ad.env", `ADYEN_API_KEY=AQE${pick(ANL, 5)}${pick(B64, 120)}-${pick(B64, 43)}=-${pick(AN, 16)}\n`);
sample("shopify", "sh.env", `SHOPIFY_TOKEN=shpat_${pick(H, 32)}\n`);
sample("shopify-secret", "sh2.env", `SHOPIFY_SECRET=shpss_${pick(H, 32)}\n`);
sample("flutterwave", "fl.env", `FLW=FLWSECK-${pick(H, 32)}-X\n`);
sample("paystack", "ps.env", `PAYSTACK_SECRET_KEY=sk_live_${pick(H, 40)}\n`);
sample(
  "coinbase",
  "cb.json",
  JSON.stringify({
    name: `organizations/${uuid()}/apiKeys/${uuid()}`,
    privateKey: `-----BEGIN EC PRIVATE KEY-----\n${lines(b64(121))}\n-----END EC PRIVATE KEY-----\n`,
  }),
);
sample("binance", "bn.env", `BINANCE_SECRET_KEY=${pick(AN, 64)}\n`);
sample("ethereum", "hardhat.config.js", `accounts: ["0x${pick(H, 64)}"], // private key\n`);
sample("alchemy-infura", "rpc.ts", `const rpc = "https://mainnet.infura.io/v3/${pick(H, 32)}";\n`);
// observability, ops
sample("datadog", "dd.yaml", `api_key: ${pick(H, 32)}\nsite: datadoghq.eu\n`);
sample("datadog-app", "dd.env", `DD_APP_KEY=${pick(H, 40)}\n`);
sample("newrelic", "nr.env", `NEW_RELIC_API_KEY=NRAK-${pick(ANU, 27)}\n`);
sample("newrelic-license", "nr.yml", `license_key: eu01xx${pick(H, 30)}NRAL\n`);
sample("sentry", "se.sh", `export SENTRY_AUTH_TOKEN=sntrys_eyJ${pick(AN, 120)}_${pick(B64, 43)}\n`);
sample("sentry-user", "su.env", `SENTRY_TOKEN=sntryu_${pick(H, 64)}\n`);
sample("grafana", "gf.tf", `auth = "glsa_${pick(AN, 32)}_${pick(H, 8)}"\n`);
sample("grafana-cloud", "gc.env", `GRAFANA_CLOUD_TOKEN=glc_eyJ${pick(AN, 110)}==\n`);
sample("honeycomb", "hc.env", `HONEYCOMB_API_KEY=hcaik_01${pick(ANL, 56)}\n`);
sample("pagerduty", "pd.env", `PAGERDUTY_TOKEN=u+${pick(AN, 18)}\n`);
sample("opsgenie", "og.env", `OPSGENIE_API_KEY=${uuid()}\n`);
sample("dynatrace", "dt.txt", `dt0c01.${pick(B32, 24)}.${pick(B32, 64)}`);
sample("posthog", "ph.env", `POSTHOG_PERSONAL=phx_${pick(AN, 43)}\n`);
sample("segment", "sg.js", `new Analytics({ writeKey: "${pick(AN, 32)}" })\n`);
sample("launchdarkly", "ld.go", `ld.MakeClient("sdk-${uuid()}", 5*time.Second)\n`);
sample("algolia", "al.env", `ALGOLIA_ADMIN_API_KEY=${pick(H, 32)}\n`);
sample("elastic", "es.env", `ELASTIC_API_KEY=${b64(45)}\n`);
sample("snyk", "sn.env", `SNYK_TOKEN=${uuid()}\n`);
sample("sonar", "so.sh", `sonar-scanner -Dsonar.token=sqp_${pick(H, 40)}\n`);
sample("circleci", "cc.env", `CIRCLE_TOKEN=CCIPAT_${pick(AN, 22)}_${pick(H, 40)}\n`);
sample("buildkite", "bk.env", `BUILDKITE_API_TOKEN=bkua_${pick(H, 40)}\n`);
sample("travis", "tr.env", `TRAVIS_TOKEN=${pick(AN, 22)}\n`);
sample(
  "terraform",
  "tf.rc",
  `credentials "app.terraform.io" {\n  token = "${pick(AN, 14)}.atlasv1.${pick(AN, 67)}"\n}\n`,
);
sample("vault", "v.sh", `export VAULT_TOKEN=hvs.CAESI${pick(URL, 90)}\n`);
sample("consul", "cn.env", `CONSUL_HTTP_TOKEN=${uuid()}\n`);
sample("doppler", "dp.env", `DOPPLER_TOKEN=dp.st.prd.${pick(AN, 43)}\n`);
sample("onepassword", "op.env", `OP_SERVICE_ACCOUNT_TOKEN=ops_eyJ${pick(AN, 300)}\n`);
sample("infisical", "inf.env", `INFISICAL_TOKEN=st.${uuid()}.${pick(H, 32)}.${pick(H, 32)}\n`);
sample("pulumi", "pu.env", `PULUMI_ACCESS_TOKEN=pul-${pick(H, 40)}\n`);
sample("databricks", "db.cfg", `token = dapi${pick(H, 32)}-2\n`);
sample(
  "snowflake",
  "sf.py",
  `snowflake.connector.connect(user="etl", password="${pick(AN, 12)}#${pick(AN, 4)}", account="xy1")\n`,
);
sample("tailscale", "ts.sh", `tailscale up --authkey tskey-auth-k${pick(AN, 11)}CNTRL-${pick(AN, 32)}\n`);
sample("ngrok", "ng.yml", `authtoken: 2${pick(AN, 26)}_${pick(AN, 21)}\n`);
sample("okta", "ok.env", `OKTA_API_TOKEN=00${pick(URL, 40)}\n`);
sample("auth0", "a0.env", `AUTH0_CLIENT_SECRET=${pick(URL, 64)}\n`);
sample("clerk", "ck.env", `CLERK_SECRET_KEY=sk_live_${pick(AN, 40)}\n`);
// productivity
sample("notion", "no.ts", `new Client({ auth: "ntn_${pick(D, 11)}${pick(AN, 35)}" })\n`);
sample("airtable", "at.py", `Api("pat${pick(AN, 14)}.${pick(H, 64)}")\n`);
sample("linear", "li.env", `LINEAR_API_KEY=lin_api_${pick(AN, 40)}\n`);
sample("asana", "as.env", `ASANA_PAT=2/${pick(D, 16)}/${pick(D, 16)}:${pick(H, 32)}\n`);
sample("figma", "fi.env", `FIGMA_TOKEN=figd_${pick(URL, 40)}\n`);
sample("hubspot", "hs.env", `HUBSPOT_TOKEN=pat-eu1-${uuid()}\n`);
sample("salesforce", "sf.sh", `SF_SESSION="00D${pick(AN, 12)}!${pick(AN, 96)}"\n`);
sample("zendesk", "zd.env", `ZENDESK_API_TOKEN=${pick(AN, 40)}\n`);
sample("dropbox", "dx.py", `dropbox.Dropbox("sl.u.${pick(URL, 130)}")\n`);
sample("contentful", "cf.env", `CONTENTFUL_MANAGEMENT_TOKEN=CFPAT-${pick(URL, 43)}\n`);
sample("mapbox", "mb.js", `mapboxgl.accessToken = "sk.eyJ1Ijoi${pick(AN, 60)}.${pick(URL, 22)}";\n`);
sample("facebook", "fb.env", `FB_PAGE_TOKEN=EAAG${pick(AN, 160)}\n`);
sample("twitter", "x.env", `TWITTER_BEARER=AAAAAAAAAAAAAAAAAAAAA${pick(AN, 30)}%3D${pick(AN, 50)}\n`);
sample("linkedin", "li2.env", `LINKEDIN_CLIENT_SECRET=WPL_AP1.${pick(AN, 16)}.${pick(AN, 6)}==\n`);
sample("spotify", "sp.env", `SPOTIFY_CLIENT_SECRET=${pick(H, 32)}\n`);
sample("twitch", "tc.env", `TWITCH_OAUTH=oauth:${pick(ANL, 30)}\n`);
sample("postman", "po.env", `POSTMAN_API_KEY=PMAK-${pick(H, 24)}-${pick(H, 34)}\n`);
// keys and generic
sample("rsa", "id.pem", `-----BEGIN RSA PRIVATE KEY-----\n${lines(b64(1190))}\n-----END RSA PRIVATE KEY-----\n`);
sample(
  "ed25519",
  "deploy_key",
  `-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n${lines(b64(200), 70)}\n-----END OPENSSH PRIVATE KEY-----\n`,
);
sample(
  "ec",
  "ec.env",
  `SIGNING_KEY="-----BEGIN EC PRIVATE KEY-----\\n${b64(121)}\\n-----END EC PRIVATE KEY-----\\n"\n`,
);
sample(
  "pgp",
  "sec.asc",
  `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${lines(b64(600))}\n=${pick(AN, 4)}\n-----END PGP PRIVATE KEY BLOCK-----\n`,
);
sample(
  "putty",
  "k.ppk",
  `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: x\nPublic-Lines: 2\n${b64(48)}\n${b64(20)}\nPrivate-Lines: 1\n${b64(36)}\nPrivate-MAC: ${pick(H, 64)}\n`,
);
sample("age", "key.txt", `AGE-SECRET-KEY-1${pick("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)}\n`);
sample("wireguard", "wg0.conf", `[Interface]\nPrivateKey = ${b64(32)}\nAddress = 10.0.0.2/32\n`);
sample(
  "jwt",
  "s.js",
  `headers: { Authorization: "Bearer ${jwt({ sub: "1881", name: "ops", admin: true, exp: 1999999999 })}" }\n`,
);
sample("basic-auth", "ba.sh", `curl -u deploy:${pick(AN, 20)} https://repo.harbor.io/upload\n`);
sample(
  "basic-header",
  "bh.py",
  `h = {"Authorization": "Basic ${Buffer.from(`deploy:${pick(AN, 20)}`).toString("base64")}"}\n`,
);
sample("url-creds", "u.py", `URL = "https://deploy:${pick(AN, 20)}@repo.harbor.io/simple"\n`);
sample("django", "settings.py", `SECRET_KEY = "django-insecure-${pick(`${ANL}!@#^&*(-_=+)`, 50)}"\n`);
sample("django-real", "settings_prod.py", `SECRET_KEY = "${pick(`${ANL}!@#^&*(-_=+)`, 50)}"\n`);
sample("rails", "master.yml", `production:\n  secret_key_base: ${pick(H, 128)}\n`);
sample("laravel", "lara.env", `APP_KEY=base64:${b64(32)}\n`);
sample("generic-pw", "conf.toml", `[db]\npassword = "${pick(AN, 8)}-${pick(AN, 8)}"\n`);
sample("generic-client", "oidc.yaml", `clientSecret: ${pick(URL, 40)}\n`);
sample("generic-signing", "w.env", `WEBHOOK_SIGNING_SECRET=${pick(H, 64)}\n`);
sample(
  "generic-token",
  "k8s.sh",
  `kubectl --token=${jwt({ iss: "kubernetes/serviceaccount", sub: "system:serviceaccount:default:ci" })} get pods\n`,
);
sample(
  "k8s-secret",
  "secret.yaml",
  `apiVersion: v1\nkind: Secret\ndata:\n  password: ${Buffer.from(pick(AN, 24)).toString("base64")}\n`,
);
sample(
  "kubeconfig",
  "kube.yaml",
  `users:\n- name: admin\n  user:\n    client-key-data: ${Buffer.from(`-----BEGIN RSA PRIVATE KEY-----\n${lines(b64(600))}`).toString("base64")}\n`,
);
sample("htpasswd", "users", `admin:$2y$10$${pick(`${AN}./`, 53)}\n`);
sample("ldap", "ldap.ini", `bind_password = ${pick(AN, 22)}\n`);
sample("smtp", "mail.py", `smtp.login("ops@harbor.io", "${pick(AN, 20)}")\n`);
sample("sshpass", "run.sh", `sshpass -p '${pick(AN, 16)}' ssh root@10.1.2.3 uptime\n`);
sample("mysql-cli", "dump.sh", `mysqldump -uroot -p${pick(AN, 18)} prod > d.sql\n`);
sample("pgpassword", "q.sh", `PGPASSWORD=${pick(AN, 18)} psql -h db.harbor.io -U app\n`);
