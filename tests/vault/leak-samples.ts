// What secrets of many providers look like, written down from what the providers publish and before the rules were
// read. Nothing here is a secret: values are drawn at run time, so that no scanner finds one in this file.

export interface LeakSample {
  readonly provider: string;
  readonly kind: string;
  /** A file that holds the secret, as people write such files. */
  readonly text: string;
}

const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER = UPPER.toLowerCase();
const DIGITS = "0123456789";
const WORD = UPPER + LOWER + DIGITS;
const HEX = `${DIGITS}abcdef`;

/** The same "random" numbers every time, so that a sample that is missed today is missed tomorrow. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Dice {
  from(letters: string, length: number): string;
  word(length: number): string;
  hex(length: number): string;
  digits(length: number): string;
  /** Letters, digits, `-` and `_`. */
  url(length: number): string;
  uuid(): string;
  /** `bytes` bytes in base64. */
  base64(bytes: number): string;
}

function dice(seed: number): Dice {
  const next = numbers(seed);
  const from = (letters: string, length: number) =>
    Array.from({ length }, () => letters[Math.floor(next() * letters.length)]).join("");
  const hex = (length: number) => from(HEX, length);
  return {
    from,
    hex,
    word: (length) => from(WORD, length),
    digits: (length) => from("123456789", 1) + from(DIGITS, length - 1),
    url: (length) => from(`${WORD}-_`, length - 1) + from(WORD, 1),
    uuid: () => [8, 4, 4, 4, 12].map(hex).join("-"),
    base64: (bytes) => Buffer.from(Array.from({ length: bytes }, () => Math.floor(next() * 256))).toString("base64"),
  };
}

const wrapped = (text: string, width: number): string =>
  text.replace(new RegExp(`(.{${width}})`, "g"), "$1\n").trimEnd();
const pem = (kind: string, body: string): string =>
  `-----${"BEGIN"} ${kind}-----\n${wrapped(body, 64)}\n-----${"END"} ${kind}-----\n`;
const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
const jwt = (d: Dice, payload: object): string =>
  [{ alg: "HS256", typ: "JWT" }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .concat(d.url(43))
    .join(".");

type Row = readonly [provider: string, kind: string, text: (d: Dice) => string];

const CLOUDS: readonly Row[] = [
  ["aws", "access key id", (d) => `aws_access_key_id = ${"AK"}IA${d.from(`${UPPER}234567`, 16)}\n`],
  ["aws", "temporary key id", (d) => json({ AccessKeyId: `${"AS"}IA${d.from(`${UPPER}234567`, 16)}` })],
  ["aws", "secret access key", (d) => `[default]\naws_secret_access_key = ${d.from(`${WORD}+/`, 40)}\n`],
  ["aws", "secret in code", (d) => `const client = new S3({ secretAccessKey: "${d.from(`${WORD}+/`, 40)}" });\n`],
  ["aws", "bedrock key", (d) => `export AWS_BEARER_TOKEN_BEDROCK=${"AB"}SK${d.base64(96)}\n`],
  ["google", "api key", (d) => `const map = "https://maps.example/js?key=${"AI"}za${d.url(35)}";\n`],
  ["google", "oauth client secret", (d) => json({ client_secret: `${"GOC"}SPX-${d.url(28)}` })],
  ["google", "oauth access token", (d) => `Authorization: Bearer ${"ya"}29.${d.url(160)}\n`],
  ["google", "oauth refresh token", (d) => json({ refresh_token: `1/${"/0"}${d.url(90)}` })],
  [
    "google",
    "service account",
    (d) =>
      json({
        type: "service_account",
        private_key: pem(`${"PRIVATE"} KEY`, d.base64(600)),
        client_email: "robot@project.iam.gserviceaccount.com",
      }),
  ],
  [
    "azure",
    "storage connection string",
    (d) =>
      `DefaultEndpointsProtocol=https;AccountName=shop;Account${"Key"}=${d.base64(64)};EndpointSuffix=core.windows.net\n`,
  ],
  ["azure", "storage key", (d) => `AZURE_STORAGE_KEY=${d.base64(64)}\n`],
  ["azure", "client secret", (d) => `AZURE_CLIENT_SECRET=${d.word(3)}${"8"}Q~${d.url(34)}\n`],
  [
    "azure",
    "service bus",
    (d) => `Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccess${"Key"}=${d.base64(32)}\n`,
  ],
  [
    "azure",
    "shared access signature",
    (d) =>
      `https://shop.blob.core.windows.net/a/b?sv=2022-11-02&ss=b&se=2030-01-01&sp=r&${"sig"}=${encodeURIComponent(d.base64(32))}\n`,
  ],
  ["azure", "devops token", (d) => `AZURE_DEVOPS_EXT_PAT=${d.word(76)}${"AZ"}DO${d.word(4)}\n`],
  ["digitalocean", "personal token", (d) => `DO_TOKEN=${"dop"}_v1_${d.hex(64)}\n`],
  ["digitalocean", "oauth token", (d) => `token: ${"doo"}_v1_${d.hex(64)}\n`],
  ["digitalocean", "refresh token", (d) => `token: ${"dor"}_v1_${d.hex(64)}\n`],
  ["heroku", "api key", (d) => `HEROKU_API_KEY=${d.uuid()}\n`],
  ["heroku", "platform token", (d) => `heroku = "${"HRKU"}-AA${d.url(58)}"\n`],
  ["cloudflare", "api token", (d) => `CLOUDFLARE_API_TOKEN=${d.url(40)}\n`],
  ["cloudflare", "global key", (d) => `cloudflare_api_key: "${d.hex(37)}"\n`],
  ["cloudflare", "origin ca key", (d) => `ca = ${"v1"}.0-${d.hex(24)}-${d.hex(146)}\n`],
  ["alibaba", "access key id", (d) => `access_key = "${"LT"}AI5t${d.word(20)}"\n`],
  ["alibaba", "access key secret", (d) => `ALIBABA_CLOUD_ACCESS_KEY_SECRET=${d.word(30)}\n`],
  ["tencent", "secret id", (d) => `secretId: "${"AK"}ID${d.word(32)}"\n`],
  ["ibm", "cloud api key", (d) => `IBMCLOUD_API_KEY=${d.url(44)}\n`],
  ["yandex", "cloud api key", (d) => `yandex_api_key = "${"AQ"}VN${d.url(36)}"\n`],
  ["fly", "token", (d) => `FLY_API_TOKEN="${"Fly"}V1 fm2_${d.base64(150)}"\n`],
  ["render", "api key", (d) => `RENDER_API_KEY=${"rnd"}_${d.word(32)}\n`],
  ["railway", "token", (d) => `RAILWAY_TOKEN=${d.uuid()}\n`],
  ["netlify", "token", (d) => `NETLIFY_AUTH_TOKEN=${"nfp"}_${d.word(36)}\n`],
  ["vercel", "token", (d) => `VERCEL_TOKEN=${d.word(24)}\n`],
  ["fastly", "token", (d) => `FASTLY_API_TOKEN=${d.url(32)}\n`],
  ["tailscale", "auth key", (d) => `TS_AUTHKEY=${"tskey"}-auth-${d.word(16)}-${d.word(32)}\n`],
  ["tailscale", "api key", (d) => `key: ${"tskey"}-api-${d.word(12)}-${d.word(32)}\n`],
];

const CODE: readonly Row[] = [
  ["github", "personal token", (d) => `git clone https://${"gh"}p_${d.word(36)}@github.com/a/b\n`],
  ["github", "oauth token", (d) => `token: ${"gh"}o_${d.word(36)}\n`],
  ["github", "app user token", (d) => `"${"gh"}u_${d.word(36)}"\n`],
  ["github", "server token", (d) => `GH_TOKEN=${"gh"}s_${d.word(36)}\n`],
  ["github", "refresh token", (d) => `refresh = '${"gh"}r_${d.word(76)}'\n`],
  ["github", "fine-grained token", (d) => `GITHUB_TOKEN=${"github"}_pat_${d.word(22)}_${d.word(59)}\n`],
  ["gitlab", "personal token", (d) => `GITLAB_TOKEN=${"gl"}pat-${d.url(20)}\n`],
  ["gitlab", "routable token", (d) => `token = ${"gl"}pat-${d.url(27)}.01.${d.from(DIGITS + LOWER, 9)}\n`],
  ["gitlab", "deploy token", (d) => `password: ${"gl"}dt-${d.url(20)}\n`],
  ["gitlab", "runner token", (d) => `token = "${"gl"}rt-${d.url(20)}"\n`],
  ["gitlab", "registration token", (d) => `REGISTRATION_TOKEN=${"GR"}1348941${d.url(20)}\n`],
  ["gitlab", "trigger token", (d) => `curl -F token=${"gl"}ptt-${d.hex(40)} https://gitlab.example\n`],
  ["gitlab", "feed token", (d) => `feed_token=${"gl"}ft-${d.url(20)}\n`],
  ["gitlab", "agent token", (d) => `token: ${"gl"}agent-${d.url(50)}\n`],
  ["gitlab", "ci job token", (d) => `CI_JOB_TOKEN=${"gl"}cbt-${d.word(5)}_${d.url(20)}\n`],
  [
    "bitbucket",
    "app password",
    (d) => `https://me:${"AT"}BB${d.word(28)}${d.from(UPPER + DIGITS, 8)}@bitbucket.org/a/b\n`,
  ],
  ["atlassian", "api token", (d) => `JIRA_TOKEN=${"ATA"}TT3xFfGF0${d.url(171)}=${d.from("0123456789ABCDEF", 8)}\n`],
  ["npm", "access token", (d) => `//npm.example.org/:_authToken=${"npm"}_${d.word(36)}\n`],
  ["npm", "old token", (d) => `//registry.example.com/:_authToken=${d.uuid()}\n`],
  ["npm", "basic auth", (d) => `//registry.example.com/:_auth=${d.base64(30)}\n`],
  ["pypi", "upload token", (d) => `[pypi]\nusername = __token__\npassword = ${"pypi"}-AgEIcHlwaS5vcmc${d.url(150)}\n`],
  ["rubygems", "api key", (d) => `:rubygems_api_key: ${"rubygems"}_${d.hex(48)}\n`],
  ["crates", "api token", (d) => `[registry]\ntoken = "${"ci"}o${d.word(32)}"\n`],
  ["nuget", "api key", (d) => `nuget push a.nupkg -k ${"oy"}2${d.from(LOWER + DIGITS, 43)}\n`],
  ["docker", "personal token", (d) => `DOCKER_PASSWORD=${"dckr"}_pat_${d.url(27)}\n`],
  ["docker", "config", (d) => json({ auths: { "registry.example.com": { auth: d.base64(33) } } })],
  ["jfrog", "api key", (d) => `ARTIFACTORY_API_KEY=${"AK"}Cp${d.word(69)}\n`],
  ["circleci", "personal token", (d) => `CIRCLE_TOKEN=${"CCI"}PAT_${d.word(22)}_${d.hex(40)}\n`],
  ["buildkite", "user token", (d) => `BUILDKITE_TOKEN=${"bk"}ua_${d.hex(40)}\n`],
  ["sonar", "user token", (d) => `sonar.token=${"sq"}u_${d.hex(40)}\n`],
  ["snyk", "token", (d) => `SNYK_TOKEN=${d.uuid()}\n`],
  ["terraform", "cloud token", (d) => `token = "${d.word(14)}.${"atlas"}v1.${d.url(67)}"\n`],
  ["vault", "service token", (d) => `VAULT_TOKEN=${"hv"}s.${d.url(95)}\n`],
  ["vault", "batch token", (d) => `VAULT_TOKEN=${"hv"}b.${d.url(160)}\n`],
  ["pulumi", "access token", (d) => `PULUMI_ACCESS_TOKEN=${"pu"}l-${d.hex(40)}\n`],
  ["doppler", "personal token", (d) => `DOPPLER_TOKEN=${"dp"}.pt.${d.word(43)}\n`],
  ["doppler", "service token", (d) => `DOPPLER_TOKEN=${"dp"}.st.dev.${d.word(43)}\n`],
  ["1password", "service account", (d) => `OP_SERVICE_ACCOUNT_TOKEN=${"ops"}_eyJ${d.word(300)}\n`],
  ["postman", "api key", (d) => `key: ${"PM"}AK-${d.hex(24)}-${d.hex(34)}\n`],
  ["prefect", "api key", (d) => `PREFECT_API_KEY=${"pn"}u_${d.word(36)}\n`],
];

const MODELS: readonly Row[] = [
  ["openai", "key", (d) => `OPENAI_API_KEY=${"s"}k-${d.word(20)}T3Blb${"kFJ"}${d.word(20)}\n`],
  ["openai", "project key", (d) => `openai.api_key = "${"s"}k-proj-${d.url(74)}T3Blb${"kFJ"}${d.url(74)}"\n`],
  ["openai", "admin key", (d) => `key = ${"s"}k-admin-${d.url(58)}T3Blb${"kFJ"}${d.url(58)}\n`],
  ["anthropic", "api key", (d) => `ANTHROPIC_API_KEY=${"sk"}-ant-api03-${d.url(93)}AA\n`],
  ["anthropic", "admin key", (d) => `key: ${"sk"}-ant-admin01-${d.url(93)}AA\n`],
  ["anthropic", "oauth token", (d) => json({ accessToken: `${"sk"}-ant-oat01-${d.url(93)}AA` })],
  ["huggingface", "token", (d) => `login(token="${"h"}f_${d.from(UPPER + LOWER, 34)}")\n`],
  ["replicate", "token", (d) => `REPLICATE_API_TOKEN=${"r"}8_${d.word(37)}\n`],
  ["groq", "key", (d) => `groq = Groq(api_key="${"gs"}k_${d.word(52)}")\n`],
  ["xai", "key", (d) => `XAI_API_KEY=${"xa"}i-${d.word(80)}\n`],
  ["perplexity", "key", (d) => `PPLX=${"ppl"}x-${d.word(48)}\n`],
  ["mistral", "key", (d) => `MISTRAL_API_KEY=${d.word(32)}\n`],
  ["cohere", "key", (d) => `COHERE_API_KEY="${d.word(40)}"\n`],
  ["openrouter", "key", (d) => `key = "${"sk"}-or-v1-${d.hex(64)}"\n`],
  ["deepseek", "key", (d) => `DEEPSEEK_API_KEY=${"s"}k-${d.hex(32)}\n`],
  ["langsmith", "key", (d) => `LANGSMITH_API_KEY=${"lsv2"}_pt_${d.hex(32)}_${d.hex(10)}\n`],
  ["pinecone", "key", (d) => `pc = Pinecone(api_key="${"pc"}sk_${d.word(6)}_${d.word(63)}")\n`],
  ["wandb", "key", (d) => `export WANDB_API_KEY=${d.hex(40)}\n`],
];

const MESSAGES: readonly Row[] = [
  ["slack", "bot token", (d) => `SLACK_BOT_TOKEN=${"xo"}xb-${d.digits(12)}-${d.digits(13)}-${d.word(24)}\n`],
  ["slack", "user token", (d) => `token: ${"xo"}xp-${d.digits(12)}-${d.digits(12)}-${d.digits(13)}-${d.hex(32)}\n`],
  ["slack", "app token", (d) => `"${"xa"}pp-1-A${d.from(UPPER + DIGITS, 10)}-${d.digits(13)}-${d.hex(64)}"\n`],
  [
    "slack",
    "webhook",
    (d) =>
      `url = "https://hooks.${"slack"}.com/services/T${d.from(UPPER + DIGITS, 10)}/B${d.from(UPPER + DIGITS, 10)}/${d.word(24)}"\n`,
  ],
  ["discord", "bot token", (d) => `client.login("${"M"}${d.word(25)}.${d.word(6)}.${d.url(38)}");\n`],
  ["discord", "webhook", (d) => `https://${"discord"}.com/api/webhooks/${d.digits(18)}/${d.url(68)}\n`],
  ["telegram", "bot token", (d) => `bot = Bot("${d.digits(10)}:${"AA"}${d.url(33)}")\n`],
  ["telegram", "bot url", (d) => `curl https://api.telegram.org/bot${d.digits(9)}:${"AA"}${d.url(33)}/getMe\n`],
  ["twilio", "api key", (d) => `TWILIO_API_KEY=${"S"}K${d.hex(32)}\n`],
  ["twilio", "auth token", (d) => `TWILIO_ACCOUNT_SID=${"A"}C${d.hex(32)}\nTWILIO_AUTH_TOKEN=${d.hex(32)}\n`],
  ["sendgrid", "api key", (d) => `sgMail.setApiKey("${"S"}G.${d.url(22)}.${d.url(43)}");\n`],
  ["mailgun", "api key", (d) => `MAILGUN_API_KEY=${"ke"}y-${d.hex(32)}\n`],
  ["mailgun", "new api key", (d) => `mailgun_api_key: ${d.hex(32)}-${d.hex(8)}-${d.hex(8)}\n`],
  ["mailchimp", "api key", (d) => `mailchimp = "${d.hex(32)}-us${"12"}"\n`],
  ["postmark", "server token", (d) => `POSTMARK_SERVER_TOKEN=${d.uuid()}\n`],
  ["brevo", "api key", (d) => `api-key: ${"xkey"}sib-${d.hex(64)}-${d.word(16)}\n`],
  ["resend", "api key", (d) => `const resend = new Resend("${"r"}e_${d.word(8)}_${d.word(24)}");\n`],
  [
    "teams",
    "webhook",
    (d) =>
      `https://shop.webhook.${"office"}.com/webhookb2/${d.uuid()}@${d.uuid()}/IncomingWebhook/${d.hex(32)}/${d.uuid()}\n`,
  ],
  ["facebook", "access token", (d) => `FB_TOKEN=${"EA"}A${d.word(180)}\n`],
  ["twitter", "bearer token", (d) => `BEARER=${"A".repeat(22)}${d.word(60)}%3D${d.word(40)}\n`],
];

const MONEY: readonly Row[] = [
  ["stripe", "secret key", (d) => `stripe.api_key = "${"s"}k_live_${d.word(99)}"\n`],
  ["stripe", "restricted key", (d) => `STRIPE=${"r"}k_live_${d.word(24)}\n`],
  ["stripe", "webhook secret", (d) => `STRIPE_WEBHOOK_SECRET=${"wh"}sec_${d.word(32)}\n`],
  ["square", "access token", (d) => `SQUARE=${"sq0"}atp-${d.url(22)}\n`],
  ["square", "oauth secret", (d) => `SQUARE=${"sq0"}csp-${d.url(43)}\n`],
  [
    "paypal",
    "braintree token",
    (d) => `token = "${"access"}_token$production$${d.from(LOWER + DIGITS, 16)}$${d.hex(32)}"\n`,
  ],
  ["paypal", "client secret", (d) => `PAYPAL_CLIENT_SECRET=E${d.url(79)}\n`],
  ["shopify", "access token", (d) => `SHOPIFY=${"shp"}at_${d.hex(32)}\n`],
  ["shopify", "shared secret", (d) => `SHOPIFY=${"shp"}ss_${d.hex(32)}\n`],
  ["plaid", "access token", (d) => json({ access_token: `${"access"}-production-${d.uuid()}` })],
  ["plaid", "secret", (d) => `PLAID_SECRET=${d.hex(30)}\n`],
  ["flutterwave", "secret key", (d) => `key = ${"FLW"}SECK-${d.hex(32)}-X\n`],
  ["easypost", "api key", (d) => `EASYPOST=${"EZ"}AK${d.word(54)}\n`],
  ["shippo", "token", (d) => `token: ${"shippo"}_live_${d.hex(40)}\n`],
  ["duffel", "token", (d) => `token: ${"duffel"}_live_${d.url(43)}\n`],
];

const SERVICES: readonly Row[] = [
  ["datadog", "api key", (d) => `DD_API_KEY=${d.hex(32)}\n`],
  ["datadog", "application key", (d) => `datadog:\n  app_key: ${d.hex(40)}\n`],
  ["newrelic", "user key", (d) => `NEW_RELIC_API_KEY=${"NR"}AK-${d.from(UPPER + DIGITS, 27)}\n`],
  ["newrelic", "license key", (d) => `license_key: ${d.hex(36)}${"NR"}AL\n`],
  ["sentry", "org token", (d) => `SENTRY_AUTH_TOKEN=${"sntry"}s_eyJ${d.word(120)}_${d.url(43)}\n`],
  ["sentry", "user token", (d) => `auth.token=${"sntry"}u_${d.hex(64)}\n`],
  ["grafana", "service account", (d) => `GRAFANA=${"gl"}sa_${d.word(32)}_${d.hex(8)}\n`],
  ["grafana", "cloud token", (d) => `token: ${"gl"}c_eyJ${d.word(120)}\n`],
  ["dynatrace", "token", (d) => `token: ${"dt0"}c01.${d.from(UPPER + DIGITS, 24)}.${d.from(UPPER + DIGITS, 64)}\n`],
  ["databricks", "token", (d) => `token = ${"da"}pi${d.hex(32)}\n`],
  ["supabase", "token", (d) => `SUPABASE_ACCESS_TOKEN=${"sb"}p_${d.hex(40)}\n`],
  ["planetscale", "token", (d) => `token = ${"pscale"}_tkn_${d.url(43)}\n`],
  ["planetscale", "password", (d) => `DATABASE_PASSWORD=${"pscale"}_pw_${d.url(43)}\n`],
  ["elastic", "api key", (d) => `ELASTICSEARCH_API_KEY=${d.base64(45)}\n`],
  ["algolia", "admin key", (d) => `ALGOLIA_ADMIN_API_KEY=${d.hex(32)}\n`],
  ["linear", "api key", (d) => `LINEAR=${"lin"}_api_${d.word(40)}\n`],
  ["notion", "token", (d) => `NOTION_TOKEN=${"nt"}n_${d.digits(11)}${d.word(35)}\n`],
  ["notion", "old token", (d) => `NOTION_TOKEN=${"secret"}_${d.word(43)}\n`],
  ["airtable", "token", (d) => `AIRTABLE=${"pa"}t${d.word(14)}.${d.hex(64)}\n`],
  ["asana", "token", (d) => `ASANA_ACCESS_TOKEN=2/${d.digits(16)}/${d.digits(16)}:${d.hex(32)}\n`],
  ["figma", "token", (d) => `FIGMA=${"fi"}gd_${d.url(40)}\n`],
  ["dropbox", "token", (d) => `DROPBOX=${"s"}l.${d.url(140)}\n`],
  ["okta", "api token", (d) => `OKTA_API_TOKEN=00${d.url(40)}\n`],
  ["auth0", "client secret", (d) => `AUTH0_CLIENT_SECRET=${d.url(64)}\n`],
  ["mapbox", "secret token", (d) => `MAPBOX=${"s"}k.eyJ1Ijoi${d.word(60)}.${d.url(22)}\n`],
  ["contentful", "token", (d) => `token: ${"CF"}PAT-${d.url(43)}\n`],
  ["launchdarkly", "sdk key", (d) => `LAUNCHDARKLY_SDK_KEY=${"sd"}k-${d.uuid()}\n`],
  ["hubspot", "private app", (d) => `HUBSPOT=${"pa"}t-na1-${d.uuid()}\n`],
  ["salesforce", "session", (d) => `Authorization: Bearer 00D${d.word(12)}!${"AQ"}${d.from(`${WORD}._`, 94)}\n`],
  ["typeform", "token", (d) => `TYPEFORM=${"tf"}p_${d.url(44)}\n`],
  ["pagerduty", "api key", (d) => `PAGERDUTY_API_KEY=u+${d.word(18)}\n`],
  ["cloudinary", "url", (d) => `CLOUDINARY_URL=cloudinary://${d.digits(15)}:${d.url(27)}@shop\n`],
  ["mongodb", "url", (d) => `MONGODB_URI=mongodb+srv://app:${d.word(16)}@cluster0.a1b2c.mongodb.net/shop\n`],
  ["postgres", "url", (d) => `DATABASE_URL=postgresql://app:${d.word(16)}@db.shop.internal:5432/shop\n`],
  ["mysql", "url", (d) => `url: mysql://app:${d.word(14)}@10.0.0.4/shop\n`],
  ["redis", "url", (d) => `REDIS_URL=rediss://:${d.word(32)}@cache.shop.internal:6379/0\n`],
  ["rabbitmq", "url", (d) => `broker_url = "amqps://app:${d.word(20)}@mq.shop.internal/v"\n`],
  [
    "kafka",
    "jaas",
    (d) => `sasl.jaas.config=org.apache.kafka.PlainLoginModule required username="app" password="${d.word(20)}";\n`,
  ],
  ["generic", "url with a password", (d) => `git remote add o https://deploy:${d.word(20)}@git.shop.internal/a.git\n`],
  ["generic", "bearer jwt", (d) => `Authorization: Bearer ${jwt(d, { sub: d.uuid(), exp: 1893456000 })}\n`],
  ["generic", "netrc", (d) => `machine api.shop.internal login app password ${d.word(18)}\n`],
  ["generic", "basic header", (d) => `curl -H "Authorization: Basic ${d.base64(33)}" https://api.shop.internal\n`],
];

const KEYS: readonly Row[] = [
  ["keys", "rsa", (d) => pem(`RSA ${"PRIVATE"} KEY`, d.base64(600))],
  ["keys", "pkcs8", (d) => pem(`${"PRIVATE"} KEY`, d.base64(600))],
  ["keys", "encrypted pkcs8", (d) => pem(`ENCRYPTED ${"PRIVATE"} KEY`, d.base64(600))],
  ["keys", "ec", (d) => pem(`EC ${"PRIVATE"} KEY`, d.base64(121))],
  ["keys", "ed25519", (d) => pem(`${"PRIVATE"} KEY`, `MC4CAQAwBQYDK2VwBCIEI${d.word(43)}`)],
  ["keys", "openssh", (d) => pem(`OPENSSH ${"PRIVATE"} KEY`, `b3BlbnNzaC1rZXktdjEA${d.base64(300)}`)],
  [
    "keys",
    "pgp",
    (d) =>
      `-----${"BEGIN"} PGP PRIVATE KEY BLOCK-----\n\n${wrapped(d.base64(600), 64)}\n=Ab1c\n-----${"END"} PGP PRIVATE KEY BLOCK-----\n`,
  ],
  ["keys", "pem in json", (d) => json({ key: pem(`EC ${"PRIVATE"} KEY`, d.base64(121)) })],
  ["keys", "age", (d) => `${"AGE"}-SECRET-KEY-1${d.from("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)}\n`],
  [
    "keys",
    "putty",
    (d) => `${"PuTTY"}-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: a\nPrivate-Lines: 1\n${d.base64(36)}\n`,
  ],
  [
    "keys",
    "kubeconfig",
    (d) =>
      `users:\n- name: admin\n  user:\n    client-key-data: ${Buffer.from(pem(`RSA ${"PRIVATE"} KEY`, d.base64(600))).toString("base64")}\n`,
  ],
  ["keys", "wireguard", (d) => `[Interface]\nPrivateKey = ${d.base64(32)}\nAddress = 10.0.0.2/32\n`],
];

const ROWS = [...CLOUDS, ...CODE, ...MODELS, ...MESSAGES, ...MONEY, ...SERVICES, ...KEYS];

export const LEAK_SAMPLES: readonly LeakSample[] = ROWS.map(([provider, kind, text], index) => ({
  provider,
  kind,
  text: text(dice(index * 7919 + 1)),
}));
