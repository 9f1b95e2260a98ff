/**
 * Long because: it is a table. Blind leak samples. Every value is drawn at run time from a seeded generator;
 * well-known prefixes are split, so that no secret stands in this file itself.
 */

export interface UnseenSample {
  readonly provider: string;
  readonly kind: string;
  readonly text: string;
}

// ---------- deterministic pseudo-random values ----------

let state = 0x5eed2b17;

function next(): number {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const DIGIT = "0123456789";
const ALNUM = DIGIT + UPPER + LOWER;
const B64 = `${UPPER + LOWER + DIGIT}+/`;
const B64U = `${UPPER + LOWER + DIGIT}-_`;

function pick(alphabet: string, n: number): string {
  let out = "";
  for (let i = 0; i < n; i++) out += alphabet.charAt(Math.floor(next() * alphabet.length));
  return out;
}
const hex = (n: number): string => pick(`${DIGIT}abcdef`, n);
const num = (n: number): string => pick("123456789", 1) + pick(DIGIT, n - 1);
const an = (n: number): string => pick(ALNUM, n);
const lan = (n: number): string => pick(LOWER + DIGIT, n);
const uan = (n: number): string => pick(UPPER + DIGIT, n);
const b32 = (n: number): string => pick(`${UPPER}234567`, n);
const b64 = (n: number): string => pick(B64, n);
const b64u = (n: number): string => pick(B64U, n);
/** base64url whose ends are letters or digits */
const b64un = (n: number): string => an(1) + b64u(n - 2) + an(1);
const uuid = (): string => `${hex(8)}-${hex(4)}-4${hex(3)}-${pick("89ab", 1)}${hex(3)}-${hex(12)}`;
const pw = (n: number): string => pick(LOWER, 1) + pick(`${ALNUM}!#%*_-`, n - 2) + pick(DIGIT, 1);

function encode64(s: string): string {
  let out = "";
  for (let i = 0; i < s.length; i += 3) {
    const a = s.charCodeAt(i);
    const b = i + 1 < s.length ? s.charCodeAt(i + 1) : -1;
    const c = i + 2 < s.length ? s.charCodeAt(i + 2) : -1;
    out += B64.charAt(a >> 2);
    out += B64.charAt(((a & 3) << 4) | (b < 0 ? 0 : b >> 4));
    out += b < 0 ? "=" : B64.charAt(((b & 15) << 2) | (c < 0 ? 0 : c >> 6));
    out += c < 0 ? "=" : B64.charAt(c & 63);
  }
  return out;
}
const encode64u = (s: string): string => encode64(s).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

function crc32(s: string): number {
  let c = 0xffffffff;
  for (let i = 0; i < s.length; i++) {
    c ^= s.charCodeAt(i);
    for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  }
  return (c ^ 0xffffffff) >>> 0;
}
/** 30 random characters and the 6 character base62 checksum (GitHub, npm) */
function checked36(): string {
  const body = an(30);
  let v = crc32(body);
  let tail = "";
  while (v > 0) {
    tail = ALNUM.charAt(v % 62) + tail;
    v = Math.floor(v / 62);
  }
  return body + tail.padStart(6, "0");
}

function jwt(payload: Readonly<Record<string, string | number>>, alg = "HS256", sig = 43): string {
  return [encode64u(JSON.stringify({ alg, typ: "JWT" })), encode64u(JSON.stringify(payload)), b64un(sig)].join(".");
}

const L = (...lines: string[]): string => `${lines.join("\n")}\n`;

function wrap(s: string, width: number): string[] {
  const out: string[] = [];
  for (let i = 0; i < s.length; i += width) out.push(s.slice(i, i + width));
  return out;
}
const DASH = "-".repeat(5);
const pemBegin = (label: string): string => `${DASH}BEGIN ${label}${DASH}`;
const pemEnd = (label: string): string => `${DASH}END ${label}${DASH}`;
const PRIV = "PRIV" + "ATE KEY";
const pem = (label: string, body: string, width = 64): string[] => [
  pemBegin(label),
  ...wrap(body, width),
  pemEnd(label),
];

const samples: UnseenSample[] = [];
function add(provider: string, kind: string, ...lines: string[]): void {
  samples.push({ provider, kind, text: L(...lines) });
}

// ---------- cloud ----------

add(
  "aws",
  "credentials file",
  "[default]",
  `aws_access_key_id = AKIA${b32(16)}`,
  `aws_secret_access_key = ${b64(40)}`,
  "region = eu-central-1",
);
add(
  "aws",
  "python boto3 constants",
  "import boto3",
  "",
  "s3 = boto3.client(",
  '    "s3",',
  `    aws_access_key_id="AKIA${b32(16)}",`,
  `    aws_secret_access_key="${b64(40)}",`,
  ")",
  's3.upload_file("report.csv", "acme-reports", "report.csv")',
);
add(
  "aws",
  "secret key only, java properties",
  "# upload service",
  "cloud.aws.region.static=us-east-1",
  `cloud.aws.credentials.secretKey=${b64(40)}`,
  "cloud.aws.stack.auto=false",
);
add(
  "aws",
  "temporary session, shell exports",
  `export AWS_ACCESS_KEY_ID=ASIA${b32(16)}`,
  `export AWS_SECRET_ACCESS_KEY=${b64(40)}`,
  `export AWS_SESSION_TOKEN=IQoJb3JpZ2luX2Vj${b64(340)}==`,
);
add(
  "google",
  "api key in javascript",
  "const firebaseConfig = {",
  `  apiKey: "AIzaSy${b64un(33)}",`,
  '  authDomain: "shop-web-31f0.firebaseapp.com",',
  '  projectId: "shop-web-31f0",',
  "};",
  "firebase.initializeApp(firebaseConfig);",
);
add(
  "google",
  "oauth client secret json",
  `{"installed":{"client_id":"${num(12)}-${lan(32)}.apps.googleusercontent.com",`,
  '"project_id":"calendar-sync","auth_uri":"https://accounts.google.com/o/oauth2/auth",',
  `"client_secret":"GOCSPX-${b64un(28)}","redirect_uris":["http://localhost"]}}`,
);
add(
  "google",
  "service account json",
  "{",
  '  "type": "service_account",',
  '  "project_id": "acme-data-prod",',
  `  "private_key_id": "${hex(40)}",`,
  '  "private_key": "' +
    pem(PRIV, `MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ${b64(1571)}=`).join("\\n") +
    '\\n",',
  '  "client_email": "etl@acme-data-prod.iam.gserviceaccount.com",',
  `  "client_id": "${num(21)}",`,
  '  "token_uri": "https://oauth2.googleapis.com/token"',
  "}",
);
add(
  "google",
  "oauth access token, curl",
  `curl -H "Authorization: Bearer ya29.a0A${b64un(210)}" \\`,
  "  https://www.googleapis.com/drive/v3/files",
);
add(
  "azure",
  "storage connection string, appsettings.json",
  "{",
  '  "ConnectionStrings": {',
  '    "BlobStorage": "DefaultEndpointsProtocol=https;AccountName=acmeprodfiles;Account' +
    "Key=" +
    b64(86) +
    '==;EndpointSuffix=core.windows.net"',
  "  },",
  '  "Logging": { "LogLevel": { "Default": "Information" } }',
  "}",
);
add(
  "azure",
  "entra client secret, env",
  `AZURE_TENANT_ID=${uuid()}`,
  `AZURE_CLIENT_ID=${uuid()}`,
  `AZURE_CLIENT_SECRET=${an(3)}8Q~${pick(`${ALNUM}._-~`, 33)}${an(1)}`,
);
add(
  "azure",
  "service bus connection string, C#",
  "public static class Bus",
  "{",
  '    private const string Conn = "Endpoint=sb://acme-orders.servicebus.windows.net/;' +
    "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccess" +
    "Key=" +
    b64(43) +
    '=";',
  "}",
);
add(
  "azure",
  "devops personal access token, git url",
  `git clone https://build:${pick(`${LOWER}234567`, 52)}@dev.azure.com/acme/Shop/_git/shop-api`,
);
add(
  "azure",
  "blob SAS url",
  "BACKUP_URL=https://acmebackup.blob.core.windows.net/db?sv=2022-11-02&ss=b&srt=sco&sp=rwdlac" +
    "&se=2027-01-01T00:00:00Z&st=2025-01-01T00:00:00Z&spr=https&sig=" +
    an(20) +
    "%2B" +
    an(20) +
    "%3D",
);
add(
  "azure cosmos db",
  "connection string",
  `COSMOS_CONNECTION=AccountEndpoint=https://acme-cosmos.documents.azure.com:443/;AccountKey=${b64(86)}==;`,
);
add(
  "alibaba cloud",
  "access key pair, yml",
  "aliyun:",
  "  oss:",
  "    endpoint: oss-cn-hangzhou.aliyuncs.com",
  `    accessKeyId: LTAI5t${an(18)}`,
  `    accessKeySecret: ${an(30)}`,
);
add(
  "tencent cloud",
  "secret id and key, php",
  "<?php",
  "$config = [",
  "    'region' => 'ap-shanghai',",
  `    'secretId' => 'AKID${an(32)}',`,
  `    'secretKey' => '${an(32)}',`,
  "];",
);
add(
  "digitalocean",
  "personal token, terraform.tfvars",
  `do_token = "dop_v1_${hex(64)}"`,
  'region   = "fra1"',
  'ssh_key  = "deploy"',
);
add(
  "digitalocean",
  "spaces keys, rclone.conf",
  "[spaces]",
  "type = s3",
  "provider = DigitalOcean",
  `access_key_id = DO00${uan(16)}`,
  `secret_access_key = ${b64(43)}`,
  "endpoint = ams3.digitaloceanspaces.com",
);
add("linode", "api token, env", "# infra", `LINODE_TOKEN=${hex(64)}`, "LINODE_REGION=eu-west");
add("heroku", "api key, netrc", "machine api.heroku.com", "  login dev@acme-shop.io", `  password ${uuid()}`);
add(
  "heroku",
  "HRKU token, github workflow",
  "      - uses: akhileshns/heroku-deploy@v3.13.15",
  "        with:",
  `          heroku_api_key: HRKU-AA${b64un(58)}`,
  "          heroku_app_name: acme-shop",
);
add("hetzner", "cloud api token, hcl", 'provider "hcloud" {', `  token = "${an(64)}"`, "}");
add("scaleway", "secret key, yaml", `access_key: SCW${uan(17)}`, `secret_key: ${uuid()}`, "default_region: fr-par");
add("fly.io", "deploy token", `export FLY_API_TOKEN="FlyV1 fm2_${b64(280)}"`);

// ---------- source hosts and CI ----------

add(
  "github",
  "classic token, git remote",
  '[remote "origin"]',
  `\turl = https://ghp_${checked36()}@github.com/acme/shop-api.git`,
  "\tfetch = +refs/heads/*:refs/remotes/origin/*",
);
add("github", "fine-grained token, env", "GH_OWNER=acme", `GH_TOKEN=github_pat_11A${uan(19)}_${an(59)}`);
add(
  "github",
  "oauth token, hosts.yml",
  "github.com:",
  "    user: mkeller",
  `    oauth_token: gho_${checked36()}`,
  "    git_protocol: https",
);
add(
  "github",
  "oauth app secret, ruby",
  "Rails.application.config.middleware.use OmniAuth::Builder do",
  `  provider :github, 'Iv1.${hex(16)}', '${hex(40)}', scope: 'user:email'`,
  "end",
);
add(
  "gitlab",
  "personal token, python",
  "import gitlab",
  "",
  `gl = gitlab.Gitlab("https://gitlab.acme.io", private_token="glpat-${b64un(20)}")`,
);
add(
  "gitlab",
  "runner config.toml",
  "[[runners]]",
  '  name = "docker-01"',
  '  url = "https://gitlab.com/"',
  `  token = "glrt-${b64un(20)}"`,
  '  executor = "docker"',
);
add(
  "gitlab",
  "deploy token and trigger",
  `curl -X POST -F token=glptt-${hex(40)} -F ref=main https://gitlab.com/api/v4/projects/4711/trigger/pipeline`,
  `docker login -u gitlab+deploy-token-1 -p gldt-${b64un(20)} registry.gitlab.com`,
);
add("bitbucket", "app password, git url", `git push https://mkeller:ATBB${an(32)}@bitbucket.org/acme/billing.git main`);
add("bitbucket", "oauth consumer, env", `BITBUCKET_CLIENT_ID=${an(18)}`, `BITBUCKET_CLIENT_SECRET=${an(32)}`);
add(
  "circleci",
  "personal api token",
  `curl -H "Circle-Token: CCIPAT_${an(22)}_${hex(40)}" https://circleci.com/api/v2/me`,
);
add("circleci", "legacy token, env", `CIRCLECI_TOKEN=${hex(40)}`);
add(
  "travis",
  "api token, shell",
  "#!/bin/sh",
  `TRAVIS_TOKEN=${b64un(22)}`,
  'curl -s -H "Travis-API-Version: 3" -H "Authorization: token $TRAVIS_TOKEN" https://api.travis-ci.com/repos',
);
add("buildkite", "api token, python", `BUILDKITE_API_TOKEN = "bkua_${hex(40)}"`);
add("jenkins", "user api token, curl", `curl -X POST -u deploy:11${hex(32)} https://jenkins.acme.io/job/shop/build`);
add(
  "drone",
  "server token, docker-compose",
  "    environment:",
  "      DRONE_SERVER: https://drone.acme.io",
  `      DRONE_TOKEN: ${an(32)}`,
  `      DRONE_RPC_SECRET: ${hex(32)}`,
);
add("codecov", "upload token, yml", "codecov:", `  token: ${uuid()}`, "  require_ci_to_pass: true");
add("snyk", "api token, env", "SNYK_ORG=acme", `SNYK_TOKEN=${uuid()}`);
add(
  "sonarqube",
  "sonar-project.properties",
  "sonar.projectKey=shop-api",
  "sonar.host.url=https://sonar.acme.io",
  `sonar.login=sqp_${hex(40)}`,
);
add(
  "sonarqube",
  "user token, mvn command",
  `mvn sonar:sonar -Dsonar.host.url=http://10.2.0.4:9000 -Dsonar.token=squ_${hex(40)}`,
);
add("netlify", "auth token, ci yaml", "env:", `  NETLIFY_SITE_ID: ${uuid()}`, `  NETLIFY_AUTH_TOKEN: nfp_${an(36)}`);
add("vercel", "token, deploy script", `vercel deploy --prod --yes --token=${an(24)}`);
add("vercel", "token, env", `VERCEL_ORG_ID=team_${an(24)}`, `VERCEL_TOKEN=${an(24)}`);
add(
  "terraform cloud",
  "credentials.tfrc.json",
  "{",
  '  "credentials": {',
  '    "app.terraform.io": {',
  `      "token": "${an(14)}.atlasv1.${b64un(67)}"`,
  "    }",
  "  }",
  "}",
);
add("pulumi", "access token", `export PULUMI_ACCESS_TOKEN=pul-${hex(40)}`);
add("doppler", "service token, docker run", `docker run -e DOPPLER_TOKEN=dp.st.prd.${an(43)} acme/shop:1.4`);
add("doppler", "personal token, yaml", "doppler:", `  token: dp.pt.${an(43)}`);

// ---------- chat ----------

add(
  "slack",
  "bot token, python",
  "from slack_sdk import WebClient",
  "",
  `client = WebClient(token="xoxb-${num(12)}-${num(13)}-${an(24)}")`,
  'client.chat_postMessage(channel="#deploys", text="done")',
);
add(
  "slack",
  "incoming webhook, yaml",
  "receivers:",
  "  - name: ops",
  "    slack_configs:",
  "      - channel: '#alerts'",
  `        api_url: https://hooks.slack.com/services/T${uan(10)}/B${uan(10)}/${an(24)}`,
);
add(
  "slack",
  "app-level and user token, env",
  `SLACK_APP_TOKEN=xapp-1-A${uan(10)}-${num(13)}-${hex(64)}`,
  `SLACK_USER_TOKEN=xoxp-${num(12)}-${num(12)}-${num(13)}-${hex(32)}`,
);
add(
  "discord",
  "bot token, javascript",
  "const { Client } = require('discord.js');",
  "const client = new Client({ intents: 32767 });",
  `client.login('${encode64u(num(18))}.G${b64un(5)}.${b64un(38)}');`,
);
add(
  "discord",
  "webhook, shell",
  `HOOK=https://discord.com/api/webhooks/${num(19)}/${b64un(68)}`,
  'curl -H "Content-Type: application/json" -d \'{"content":"backup ok"}\' $HOOK',
);
add(
  "telegram",
  "bot token, go",
  "package main",
  "",
  `const botToken = "${num(10)}:AA${b64un(33)}"`,
  "",
  "func main() { run(botToken) }",
);
add(
  "telegram",
  "bot token in url",
  `curl -s https://api.telegram.org/bot${num(10)}:AA${b64un(33)}/sendMessage -d chat_id=-100${num(10)} -d text=hi`,
);
add(
  "microsoft teams",
  "incoming webhook",
  "TEAMS_WEBHOOK=https://acme.webhook.office.com/webhook" +
    "b2/" +
    uuid() +
    "@" +
    uuid() +
    "/IncomingWebhook/" +
    hex(32) +
    "/" +
    uuid(),
);
add("mattermost", "bot token, yaml", "mattermost:", "  url: https://chat.acme.io", `  token: ${lan(26)}`);

// ---------- payment and shops ----------

add(
  "stripe",
  "live secret key, php",
  "<?php",
  "require 'vendor/autoload.php';",
  `\\Stripe\\Stripe::setApiKey('sk_live_51${an(97)}');`,
);
add(
  "stripe",
  "old live key and webhook secret, env",
  `STRIPE_SECRET_KEY=sk_live_${an(24)}`,
  `STRIPE_WEBHOOK_SECRET=whsec_${an(32)}`,
);
add("stripe", "restricted key, ruby", `Stripe.api_key = "rk_live_51${an(97)}"`);
add(
  "square",
  "access token, javascript",
  "const { Client, Environment } = require('square');",
  "module.exports = new Client({",
  "  environment: Environment.Production,",
  `  accessToken: 'EAAA${b64un(60)}',`,
  "});",
);
add("square", "oauth secret, env", `SQUARE_APP_ID=sq0idp-${b64un(22)}`, `SQUARE_APP_SECRET=sq0csp-${b64un(43)}`);
add(
  "paypal",
  "client id and secret, env",
  "PAYPAL_MODE=live",
  `PAYPAL_CLIENT_ID=A${b64un(79)}`,
  `PAYPAL_CLIENT_SECRET=E${b64un(79)}`,
);
add(
  "braintree",
  "access token",
  "gateway = braintree.BraintreeGateway(",
  `    access_token="access_token$production$${lan(16)}$${hex(32)}"`,
  ")",
);
add("plaid", "client secret, env", "PLAID_ENV=production", `PLAID_CLIENT_ID=${hex(24)}`, `PLAID_SECRET=${hex(30)}`);
add(
  "razorpay",
  "live key pair, java",
  "public class Pay {",
  `    static final String RAZORPAY_KEY_ID = "rzp_live_${an(14)}";`,
  `    static final String RAZORPAY_KEY_SECRET = "${an(24)}";`,
  "}",
);
add(
  "adyen",
  "api key, properties",
  "adyen.merchantAccount=AcmeECOM",
  `adyen.apiKey=AQE${b64(160)}-${b64(43)}=-${an(16)}`,
);
add(
  "shopify",
  "admin token, curl",
  `curl -H "X-Shopify-Access-Token: shpat_${hex(32)}" https://acme-store.myshopify.com/admin/api/2024-01/products.json`,
);
add("shopify", "shared secret, env", `SHOPIFY_API_KEY=${hex(32)}`, `SHOPIFY_API_SECRET=shpss_${hex(32)}`);
add(
  "coinbase",
  "api key and secret, python",
  "from coinbase.wallet.client import Client",
  `COINBASE_API_KEY = "${an(16)}"`,
  `COINBASE_API_SECRET = "${an(32)}"`,
  "client = Client(COINBASE_API_KEY, COINBASE_API_SECRET)",
);
add("binance", "api secret, json", `{ "exchange": { "name": "binance", "key": "${an(64)}", "secret": "${an(64)}" } }`);

// ---------- mail and SMS ----------

add(
  "sendgrid",
  "api key, javascript",
  "const sgMail = require('@sendgrid/mail');",
  `sgMail.setApiKey('SG.${b64un(22)}.${b64un(43)}');`,
);
add(
  "sendgrid",
  "smtp password, django settings",
  'EMAIL_HOST = "smtp.sendgrid.net"',
  'EMAIL_HOST_USER = "apikey"',
  `EMAIL_HOST_PASSWORD = "SG.${b64un(22)}.${b64un(43)}"`,
  "EMAIL_PORT = 587",
);
add(
  "mailgun",
  "old api key, curl",
  `curl -s --user 'api:key-${hex(32)}' https://api.mailgun.net/v3/mg.acme.io/messages -F to=ops@acme.io`,
);
add("mailgun", "new api key, env", "MAILGUN_DOMAIN=mg.acme.io", `MAILGUN_API_KEY=${hex(32)}-${hex(8)}-${hex(8)}`);
add("mailchimp", "api key, php", "<?php", `define('MAILCHIMP_API_KEY', '${hex(32)}-us19');`);
add("mandrill", "api key, ruby", `m = Mandrill::API.new 'md-${b64un(22)}'`, "m.messages.send message");
add(
  "postmark",
  "server token, curl",
  `curl "https://api.postmarkapp.com/email" -X POST -H "X-Postmark-Server-Token: ${uuid()}" -d @mail.json`,
);
add("brevo", "api key, env", `BREVO_API_KEY=xkeysib-${hex(64)}-${an(16)}`);
add(
  "resend",
  "api key, typescript",
  'import { Resend } from "resend";',
  `const resend = new Resend("re_${an(8)}_${an(24)}");`,
);
add(
  "twilio",
  "account sid and auth token, python",
  "from twilio.rest import Client",
  `account_sid = "AC${hex(32)}"`,
  `auth_token = "${hex(32)}"`,
  "client = Client(account_sid, auth_token)",
);
add("twilio", "api key, env", `TWILIO_API_KEY=SK${hex(32)}`, `TWILIO_API_SECRET=${an(32)}`);
add(
  "vonage",
  "api secret, javascript",
  "const vonage = new Vonage({",
  `  apiKey: '${hex(8)}',`,
  `  apiSecret: '${an(16)}',`,
  "});",
);
add("messagebird", "access key, env", `MESSAGEBIRD_ACCESS_KEY=${an(25)}`);

// ---------- monitoring ----------

add("datadog", "api and app key, env", "DD_SITE=datadoghq.eu", `DD_API_KEY=${hex(32)}`, `DD_APP_KEY=${hex(40)}`);
add("datadog", "agent datadog.yaml", "## agent", `api_key: ${hex(32)}`, "site: datadoghq.com", "logs_enabled: true");
add("new relic", "user key, curl", `curl https://api.newrelic.com/graphql -H 'API-Key: NRAK-${uan(27)}' -d @q.json`);
add(
  "new relic",
  "license key, newrelic.yml",
  "common: &default_settings",
  `  license_key: ${hex(36)}NRAL`,
  "  app_name: Shop API",
);
add(
  "grafana",
  "service account token, curl",
  `curl -H "Authorization: Bearer glsa_${an(32)}_${hex(8)}" https://grafana.acme.io/api/dashboards/home`,
);
add(
  "grafana",
  "cloud token, prometheus.yml",
  "remote_write:",
  "  - url: https://prometheus-prod-01-eu-west-0.grafana.net/api/prom/push",
  "    basic_auth:",
  "      username: 482910",
  `      password: glc_${encode64(`{"o":"482910","n":"stack-push","k":"${an(24)}","m":{"r":"eu"}}`)}`,
);
add("sentry", "user token, sentryclirc", "[auth]", `token=sntryu_${hex(64)}`, "[defaults]", "org=acme");
add(
  "sentry",
  "org token, env",
  "SENTRY_AUTH_TOKEN=" +
    "sntr" +
    "ys_" +
    encode64('{"iat":1712345678.12,"url":"https://sentry.io","region_url":"https://de.sentry.io","org":"acme"}') +
    "_" +
    b64(43),
);
add(
  "pagerduty",
  "rest api key, python",
  `headers = {"Authorization": "Token token=u+${b64un(18)}", "Accept": "application/vnd.pagerduty+json;version=2"}`,
  'r = requests.get("https://api.pagerduty.com/incidents", headers=headers)',
);
add(
  "dynatrace",
  "api token, yaml",
  "dynatrace:",
  "  url: https://abc12345.live.dynatrace.com",
  `  apiToken: dt0c01.${b32(24)}.${b32(64)}`,
);
add(
  "honeycomb",
  "ingest key, collector yaml",
  "exporters:",
  "  otlp:",
  "    endpoint: api.honeycomb.io:443",
  "    headers:",
  `      x-honeycomb-team: "${an(22)}"`,
);
add(
  "rollbar",
  "access token, javascript",
  "const rollbar = new Rollbar({",
  `  accessToken: '${hex(32)}',`,
  "  captureUncaught: true,",
  "});",
);
add(
  "opsgenie",
  "api key, alertmanager",
  "opsgenie_configs:",
  `  - api_key: ${uuid()}`,
  "    api_url: https://api.eu.opsgenie.com/",
);
add("sumo logic", "access id and key", `SUMO_ACCESS_ID=su${an(12)}`, `SUMO_ACCESS_KEY=${an(64)}`);
add(
  "splunk",
  "HEC token, curl",
  `curl -k https://splunk.acme.io:8088/services/collector -H "Authorization: Splunk ${uuid().toUpperCase()}" -d '{"event":"x"}'`,
);

// ---------- AI ----------

add("openai", "project key, env", "# local dev", `OPENAI_API_KEY=sk-proj-${b64un(74)}T3BlbkFJ${b64un(74)}`);
add("openai", "legacy key, python", "import openai", `openai.api_key = "sk-${an(20)}T3BlbkFJ${an(20)}"`);
add(
  "anthropic",
  "api key, typescript",
  'import Anthropic from "@anthropic-ai/sdk";',
  "const client = new Anthropic({",
  `  apiKey: "sk-ant-api03-${b64un(93)}AA",`,
  "});",
);
add(
  "anthropic",
  "api key, curl",
  `curl https://api.anthropic.com/v1/messages -H "x-api-key: sk-ant-api03-${b64un(93)}AA" -d @body.json`,
);
add(
  "hugging face",
  "user token, python",
  "from huggingface_hub import login",
  `login(token="hf_${pick(UPPER + LOWER, 34)}")`,
);
add(
  "hugging face",
  "token, dockerfile",
  "FROM python:3.12-slim",
  `ENV HF_TOKEN=hf_${pick(UPPER + LOWER, 34)}`,
  "RUN pip install transformers",
);
add("replicate", "api token, env", `REPLICATE_API_TOKEN=r8_${an(37)}`);
add("groq", "api key, env", `GROQ_API_KEY=gsk_${an(52)}`);
add("perplexity", "api key, javascript", `const PPLX = "pplx-${an(48)}";`);
add("cohere", "api key, python", `co = cohere.Client(api_key="${an(40)}")  # cohere trial`);
add("pinecone", "api key, python", "from pinecone import Pinecone", `pc = Pinecone(api_key="pcsk_${an(6)}_${an(63)}")`);
add("mistral", "api key, env", `MISTRAL_API_KEY=${an(32)}`);
add("deepseek", "api key, yaml", "llm:", "  provider: deepseek", `  api_key: sk-${hex(32)}`);
add("elevenlabs", "api key, env", `ELEVENLABS_API_KEY=sk_${hex(48)}`);

// ---------- data platforms ----------

add(
  "databricks",
  "databrickscfg",
  "[DEFAULT]",
  `host = https://adb-${num(16)}.7.azuredatabricks.net`,
  `token = dapi${hex(32)}-2`,
);
add("databricks", "token, python", `DATABRICKS_TOKEN = "dapi${hex(32)}"`);
add(
  "snowflake",
  "connection, python",
  "conn = snowflake.connector.connect(",
  '    user="ETL_USER",',
  `    password="${pw(16)}",`,
  '    account="xy12345.eu-central-1",',
  ")",
);
add(
  "supabase",
  "service role key, env",
  `SUPABASE_URL=https://${pick(LOWER, 20)}.supabase.co`,
  `SUPABASE_SERVICE_ROLE_KEY=${jwt({ iss: "supabase", ref: pick(LOWER, 20), role: "service_role", iat: 1700000000, exp: 2015576000 })}`,
);
add("supabase", "management token, shell", `export SUPABASE_ACCESS_TOKEN=sbp_${hex(40)}`, "supabase db push");
add(
  "planetscale",
  "database url",
  `DATABASE_URL="mysql://${lan(20)}:pscale_pw_${b64un(43)}@aws.connect.psdb.cloud/shop?sslaccept=strict"`,
);
add(
  "planetscale",
  "service token, env",
  `PLANETSCALE_SERVICE_TOKEN_ID=${lan(12)}`,
  `PLANETSCALE_SERVICE_TOKEN=pscale_tkn_${b64un(43)}`,
);
add(
  "neon",
  "postgres url",
  `DATABASE_URL=postgresql://neondb_owner:npg_${an(12)}@ep-cool-river-a2b3c4d5.eu-central-1.aws.neon.tech/neondb?sslmode=require`,
);
add(
  "mongodb",
  "srv url, javascript",
  "const mongoose = require('mongoose');",
  `mongoose.connect('mongodb+srv://shopadmin:${an(16)}@cluster0.ab1cd.mongodb.net/shop?retryWrites=true&w=majority');`,
);
add(
  "mongodb",
  "url, application.yml",
  "spring:",
  "  data:",
  "    mongodb:",
  `      uri: mongodb://root:${an(14)}@10.20.0.7:27017/orders?authSource=admin`,
);
add("postgresql", "url, env", `DATABASE_URL=postgres://shop:${an(18)}@db.acme.io:5432/shop_production`);
add("postgresql", "pgpass", `db.acme.io:5432:shop:shop_rw:${an(16)}`);
add(
  "postgresql",
  "django settings",
  "DATABASES = {",
  '    "default": {',
  '        "ENGINE": "django.db.backends.postgresql",',
  '        "NAME": "shop",',
  '        "USER": "shop",',
  `        "PASSWORD": "${pw(15)}",`,
  '        "HOST": "10.1.4.12",',
  "    }",
  "}",
);
add(
  "mysql",
  "sqlalchemy url",
  `engine = create_engine("mysql+pymysql://report:${an(14)}@mysql.internal.acme.io:3306/reports")`,
);
add(
  "mysql",
  "wp-config.php",
  "define( 'DB_NAME', 'wp_acme' );",
  "define( 'DB_USER', 'wp_acme' );",
  `define( 'DB_PASSWORD', '${pw(16)}' );`,
  `define( 'AUTH_KEY', '${pick(`${ALNUM}!@#%^&*()-_[]{}<>~+=,.;:/?|`, 64)}' );`,
);
add(
  "sql server",
  "connection string, appsettings.json",
  "{",
  '  "ConnectionStrings": {',
  `    "Default": "Server=tcp:acme.database.windows.net,1433;Database=Shop;User ID=shopadmin;Password=${pw(18)};Encrypt=True;"`,
  "  }",
  "}",
);
add(
  "oracle",
  "jdbc, properties",
  "spring.datasource.url=jdbc:oracle:thin:@//ora01.acme.io:1521/ORCLPDB1",
  "spring.datasource.username=ERP",
  `spring.datasource.password=${pw(14)}`,
);
add(
  "redis",
  "url with password",
  `REDIS_URL=rediss://default:${an(32)}@redis-14021.c55.eu-central-1-1.ec2.cloud.redislabs.com:14021`,
);
add("redis", "redis.conf", "bind 0.0.0.0", "port 6379", `requirepass ${an(28)}`);
add(
  "rabbitmq",
  "amqp url, go",
  `conn, err := amqp.Dial("amqp://orders:${an(16)}@rabbit.acme.io:5672/prod")`,
  "if err != nil { log.Fatal(err) }",
);
add(
  "kafka",
  "jaas properties",
  "security.protocol=SASL_SSL",
  "sasl.mechanism=PLAIN",
  `sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="orders" password="${an(20)}";`,
);
add("confluent", "api key and secret, ini", "[confluent]", `sasl.username=${uan(16)}`, `sasl.password=${b64(64)}`);
add("elasticsearch", "url with password, python", `es = Elasticsearch("https://elastic:${an(20)}@es01.acme.io:9200")`);
add(
  "influxdb",
  "token, telegraf.conf",
  "[[outputs.influxdb_v2]]",
  '  urls = ["https://influx.acme.io:8086"]',
  `  token = "${b64un(86)}=="`,
  '  organization = "acme"',
);
add(
  "algolia",
  "admin key, javascript",
  "const algoliasearch = require('algoliasearch');",
  `const ALGOLIA_ADMIN_KEY = '${hex(32)}';`,
  `const client = algoliasearch('${uan(10)}', ALGOLIA_ADMIN_KEY);`,
);

// ---------- package registries ----------

add("npm", "npmrc token", "registry=https://npm.example.org/", `//npm.example.org/:_authToken=npm_${checked36()}`);
add("npm", "npmrc old uuid token", `//npm.example.org/:_authToken=${uuid()}`, "always-auth=true");
add(
  "npm",
  "npmrc basic _auth",
  "registry=https://nexus.acme.io/repository/npm-group/",
  `_auth=${encode64(`ci-reader:${an(17)}`)}`,
  "email=ci@acme.io",
);
add(
  "pypi",
  "pypirc",
  "[distutils]",
  "index-servers = pypi",
  "",
  "[pypi]",
  "username = __token__",
  `password = pypi-AgEIcHlwaS5vcmc${b64un(160)}`,
);
add(
  "pypi",
  "twine environment",
  "export TWINE_USERNAME=__token__",
  `export TWINE_PASSWORD=pypi-AgEIcHlwaS5vcmc${b64un(140)}`,
  "twine upload dist/*",
);
add("rubygems", "gem credentials", "---", `:rubygems_api_key: rubygems_${hex(48)}`);
add(
  "nuget",
  "push command",
  `dotnet nuget push bin/Release/Acme.Core.1.2.0.nupkg --api-key oy2${lan(43)} --source https://api.nuget.org/v3/index.json`,
);
add("crates.io", "cargo credentials.toml", "[registry]", `token = "cio${an(32)}"`);
add("docker hub", "access token, login", `echo dckr_pat_${b64un(27)} | docker login -u acmebot --password-stdin`);
add(
  "docker",
  "config.json",
  "{",
  '  "auths": {',
  '    "https://index.docker.io/v1/": {',
  `      "auth": "${encode64(`acmebot:${an(20)}`)}"`,
  "    }",
  "  }",
  "}",
);
add("jfrog", "artifactory api key, gradle.properties", "artifactory_user=ci", `artifactory_password=AKCp${an(69)}`);
add(
  "jfrog",
  "reference token, curl",
  `curl -H "Authorization: Bearer cmVmdGtuOj${an(54)}" https://acme.jfrog.io/artifactory/api/repositories`,
);
add(
  "maven",
  "settings.xml",
  "<settings><servers><server>",
  "  <id>nexus-releases</id>",
  "  <username>deployer</username>",
  `  <password>${an(18)}</password>`,
  "</server></servers></settings>",
);

// ---------- work tools ----------

add(
  "atlassian",
  "api token, env",
  "JIRA_BASE_URL=https://acme.atlassian.net",
  "JIRA_USER=ops@acme.io",
  `JIRA_API_TOKEN=ATATT3xFfGF0${b64un(171)}=${hex(8).toUpperCase()}`,
);
add(
  "atlassian",
  "old 24 character token, python",
  "jira = JIRA(",
  '    server="https://acme.atlassian.net",',
  `    basic_auth=("ops@acme.io", "${an(24)}"),`,
  ")",
);
add("asana", "personal token, python", `ASANA_ACCESS_TOKEN = "1/${num(16)}:${hex(32)}"`);
add("asana", "newer token, env", `ASANA_PAT=2/${num(16)}/${num(16)}:${hex(32)}`);
add(
  "trello",
  "key and token, url",
  `curl 'https://api.trello.com/1/members/me/boards?key=${hex(32)}&token=ATTA${hex(64)}${hex(8).toUpperCase()}'`,
);
add(
  "notion",
  "internal integration, old",
  "const { Client } = require('@notionhq/client');",
  `const notion = new Client({ auth: 'secret_${an(43)}' });`,
);
add("notion", "internal integration, new", `NOTION_TOKEN=ntn_${num(11)}${an(35)}`);
add(
  "airtable",
  "personal token, curl",
  `curl "https://api.airtable.com/v0/app${an(14)}/Orders" -H "Authorization: Bearer pat${an(14)}.${hex(64)}"`,
);
add(
  "airtable",
  "old api key, javascript",
  `const base = new Airtable({ apiKey: 'key${an(14)}' }).base('app${an(14)}');`,
);
add("linear", "api key, env", `LINEAR_API_KEY=lin_api_${an(40)}`);
add("figma", "personal token, curl", `curl -H 'X-Figma-Token: figd_${b64un(40)}' https://api.figma.com/v1/me`);
add("postman", "api key, ci yaml", "variables:", `  POSTMAN_API_KEY: PMAK-${hex(24)}-${hex(34)}`);
add("hubspot", "private app token, python", `client = HubSpot(access_token="pat-eu1-${uuid()}")`);
add("intercom", "access token, ruby", `intercom = Intercom::Client.new(token: 'dG9rOj${b64(53)}=')`);
add("zendesk", "api token, php", "<?php", "$zendesk_subdomain = 'acme';", `$zendesk_token = '${an(40)}';`);
add(
  "salesforce",
  "access token, curl",
  `curl https://acme.my.salesforce.com/services/data/v59.0/limits -H "Authorization: Bearer 00D${an(12)}!AQ${pick(`${ALNUM}._`, 93)}${an(1)}"`,
);
add("contentful", "management token, env", `CONTENTFUL_MANAGEMENT_TOKEN=CFPAT-${b64un(43)}`);
add("launchdarkly", "sdk key, go", `client, _ := ld.MakeClient("sdk-${uuid()}", 5*time.Second)`);
add("dropbox", "access token, python", `dbx = dropbox.Dropbox("sl.B${b64un(135)}")`);
add("dropbox", "app secret, env", `DROPBOX_APP_KEY=${lan(15)}`, `DROPBOX_APP_SECRET=${lan(15)}`);
add("segment", "public api token, env", `SEGMENT_TOKEN=sgp_${an(64)}`);

// ---------- social and maps ----------

add("facebook", "app secret, env", `FACEBOOK_APP_ID=${num(16)}`, `FACEBOOK_APP_SECRET=${hex(32)}`);
add(
  "facebook",
  "page access token, url",
  `curl -i -X GET 'https://graph.facebook.com/v19.0/me/accounts?access_token=EAA${an(180)}ZDZD'`,
);
add(
  "twitter",
  "bearer token, python",
  `BEARER = "AAAAAAAAAAAAAAAAAAAAAA${an(24)}%2B${an(14)}%3D${an(50)}"`,
  'headers = {"Authorization": "Bearer " + BEARER}',
);
add(
  "twitter",
  "consumer and access secrets, ruby",
  "client = Twitter::REST::Client.new do |config|",
  `  config.consumer_key        = "${an(25)}"`,
  `  config.consumer_secret     = "${an(50)}"`,
  `  config.access_token        = "${num(19)}-${an(30)}"`,
  `  config.access_token_secret = "${an(45)}"`,
  "end",
);
add("linkedin", "client secret, env", `LINKEDIN_CLIENT_ID=${lan(14)}`, `LINKEDIN_CLIENT_SECRET=${an(16)}`);
add("linkedin", "new client secret, javascript", `  clientSecret: 'WPL_AP1.${an(16)}.${an(6)}==',  // linkedin`);
add("twitch", "client secret, env", `TWITCH_CLIENT_ID=${lan(30)}`, `TWITCH_CLIENT_SECRET=${lan(30)}`);
add(
  "reddit",
  "praw.ini",
  "[bot1]",
  `client_id=${b64un(22)}`,
  `client_secret=${b64un(30)}`,
  "username=acme_bot",
  `password=${an(13)}`,
);
add("spotify", "client secret, python", `SPOTIPY_CLIENT_ID = "${hex(32)}"`, `SPOTIPY_CLIENT_SECRET = "${hex(32)}"`);
add(
  "mapbox",
  "secret token, gradle.properties",
  `MAPBOX_DOWNLOADS_TOKEN=sk.${encode64u(`{"u":"acmemaps","a":"${lan(25)}"}`)}.${b64un(22)}`,
);
add(
  "google maps",
  "key in html",
  `<script src="https://maps.googleapis.com/maps/api/js?key=AIzaSy${b64un(33)}&callback=initMap"></script>`,
);
add(
  "firebase",
  "FCM server key, java",
  `private static final String FCM_SERVER_KEY = "AAAA${b64un(7)}:APA91b${b64un(134)}";`,
);

// ---------- CDN, DNS, auth, secrets ----------

add(
  "cloudflare",
  "api token, curl",
  `curl -X GET "https://api.cloudflare.com/client/v4/user/tokens/verify" -H "Authorization: Bearer ${b64un(40)}"`,
);
add(
  "cloudflare",
  "global key, cloudflare.ini",
  "# certbot",
  "dns_cloudflare_email = ops@acme.io",
  `dns_cloudflare_api_key = ${hex(37)}`,
);
add("cloudflare", "origin ca key, env", `CF_ORIGIN_CA_KEY=v1.0-${hex(24)}-${hex(146)}`);
add(
  "fastly",
  "api token, curl",
  `curl -X POST -H "Fastly-Key: ${b64un(32)}" https://api.fastly.com/service/${an(22)}/purge_all`,
);
add("fastly", "token, env", `FASTLY_API_TOKEN=${b64un(32)}`);
add(
  "okta",
  "ssws token, curl",
  `curl -H "Authorization: SSWS 00${b64un(40)}" https://acme.okta.com/api/v1/users?limit=5`,
);
add(
  "okta",
  "client secret, application.yml",
  "okta:",
  "  oauth2:",
  "    issuer: https://acme.okta.com/oauth2/default",
  `    client-id: 0oa${an(17)}`,
  `    client-secret: ${b64un(40)}`,
);
add(
  "auth0",
  "client secret, env",
  "AUTH0_DOMAIN=acme.eu.auth0.com",
  `AUTH0_CLIENT_ID=${an(32)}`,
  `AUTH0_CLIENT_SECRET=${b64un(64)}`,
);
add("clerk", "secret key, env", `CLERK_SECRET_KEY=sk_live_${an(42)}`);
add(
  "hashicorp vault",
  "service token, env",
  "export VAULT_ADDR=https://vault.acme.io:8200",
  `export VAULT_TOKEN=hvs.CAESI${b64un(90)}`,
);
add(
  "hashicorp vault",
  "old token, curl",
  `curl -H "X-Vault-Token: s.${an(24)}" https://vault.acme.io:8200/v1/secret/data/shop`,
);
add(
  "1password",
  "service account token, env",
  "OP_SERVICE_ACCOUNT_TOKEN=" +
    "op" +
    "s_" +
    encode64u(
      `{"signInAddress":"acme.1password.com","userAuth":{"method":"SRPg-4096"},"email":"${lan(13)}@1passwordserviceaccounts.com","srpX":"${hex(64)}","muk":"${b64un(43)}"}`,
    ),
);
add(
  "age",
  "identity file",
  "# created: 2025-02-11T09:14:22+01:00",
  `AGE-SECRET-KEY-1${pick("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)}`,
);
add(
  "keycloak",
  "client secret, json",
  "{",
  '  "realm": "acme",',
  '  "auth-server-url": "https://sso.acme.io/",',
  '  "resource": "shop-api",',
  `  "credentials": { "secret": "${an(32)}" }`,
  "}",
);

// ---------- private keys, JWT ----------

add("private key", "RSA", ...pem(`RSA ${PRIV}`, `MIIBOgIBAAJBA${b64(441)}==`));
add(
  "private key",
  "RSA in one env line",
  "APP_ID=48211",
  `APP_PRIVATE_KEY="${pem(`RSA ${PRIV}`, `MIIEpAIBAAKCAQEA${b64(1576)}`).join("\\n")}\\n"`,
);
add("private key", "EC", ...pem(`EC ${PRIV}`, `MHcCAQEEI${b64(154)}==`));
add(
  "private key",
  "PKCS8 EC in javascript",
  `const key = \`${pemBegin(PRIV)}`,
  ...wrap(`MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg${b64(136)}`, 64),
  `${pemEnd(PRIV)}\`;`,
  "module.exports = { key };",
);
add(
  "private key",
  "OpenSSH Ed25519",
  ...pem(
    `OPENSSH ${PRIV}`,
    `b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZWQyNTUxOQAAACA${b64(275)}=`,
    70,
  ),
);
add(
  "private key",
  "PGP block",
  pemBegin(`PGP ${PRIV} BLOCK`),
  "",
  `lFgEZ${b64(59)}`,
  b64(64),
  b64(64),
  b64(64),
  b64(64),
  `${b64(30)}==`,
  `=${b64(4)}`,
  pemEnd(`PGP ${PRIV} BLOCK`),
);
add(
  "private key",
  "encrypted PKCS8 in yaml",
  "tls:",
  "  key: |",
  ...pem(`ENCRYPTED ${PRIV}`, `MIIFHDBOBgkqhkiG9w0BBQ0wQTAp${b64(350)}=`).map((l) => `    ${l}`),
);
add(
  "jwt",
  "bearer in shell history",
  `curl -H "Authorization: Bearer ${jwt({ sub: "41877", name: "m.keller", role: "admin", iat: 1716239022 })}" https://api.acme.io/v1/orders`,
);
add(
  "jwt",
  "RS256, postman environment",
  `{ "key": "access_token", "value": "${jwt({ iss: "https://sso.acme.io/", aud: "shop", exp: 1893456000 }, "RS256", 342)}", "enabled": true }`,
);

// ---------- plain files ----------

add("netrc", "git host password", `machine git.acme.io login deploy password ${an(20)}`);
add(
  "kubernetes",
  "kubeconfig token",
  "users:",
  "- name: ci-deployer",
  "  user:",
  `    token: ${jwt({ iss: "kubernetes/serviceaccount", "kubernetes.io/serviceaccount/namespace": "ci", sub: "system:serviceaccount:ci:deployer" }, "RS256", 342)}`,
);
add(
  "kubernetes",
  "kubeconfig client key",
  "users:",
  "- name: kubernetes-admin",
  "  user:",
  `    client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk${b64(300)}==`,
  `    client-key-data: ${encode64(L(...pem(`RSA ${PRIV}`, `MIIEpAIBAAKCAQEA${b64(1576)}`)))}`,
);
add(
  "kubernetes",
  "secret manifest",
  "apiVersion: v1",
  "kind: Secret",
  "metadata:",
  "  name: shop-db",
  "type: Opaque",
  "data:",
  `  username: ${encode64("shop_rw")}`,
  `  password: ${encode64(an(20))}`,
);
add(
  "http basic",
  "curl -H Authorization, shell history",
  `curl -sS -H "Authorization: Basic ${encode64(`reports:${an(16)}`)}" https://reports.acme.io/export.csv -o export.csv`,
);
add("http basic", "credentials in url", `BASE = "https://svc-export:${an(16)}@intranet.acme.io/api/"`);
add(
  "ftp",
  "sftp.json of an editor",
  "{",
  '  "host": "ftp.acme-shop.io",',
  '  "protocol": "ftp",',
  '  "username": "web4711",',
  `  "password": "${pw(14)}",`,
  '  "remotePath": "/htdocs"',
  "}",
);
add(
  "smtp",
  "application.yml",
  "spring:",
  "  mail:",
  "    host: smtp.acme.io",
  "    port: 587",
  "    username: noreply@acme.io",
  `    password: ${pw(16)}`,
);
add(
  "ldap",
  "bind password, properties",
  "ldap.url=ldaps://dc01.acme.local:636",
  "ldap.bindDn=cn=svc-app,ou=services,dc=acme,dc=local",
  `ldap.bindPassword=${pw(17)}`,
);
add(
  "terraform",
  "tfvars database password",
  'db_instance_class = "db.t4g.medium"',
  'db_username       = "shop"',
  `db_password       = "${pw(18)}"`,
);

// ---------- generic ----------

add(
  "generic",
  "python constant",
  "DEBUG = False",
  `SECRET_KEY = "${pick(`${LOWER + DIGIT}!@#%^&*(-_=+)`, 50)}"`,
  'ALLOWED_HOSTS = ["shop.acme.io"]',
);
add("generic", "env session secret", "NODE_ENV=production", "PORT=8080", `SESSION_SECRET=${hex(64)}`);
add("generic", "javascript object", "module.exports = {", "  user: 'svc_orders',", `  password: '${pw(15)}',`, "};");
add("generic", "go constant", "const (", '\tbaseURL  = "https://api.partner-erp.net"', `\tapiToken = "${an(40)}"`, ")");
add("generic", "java field", `private static final String CLIENT_SECRET = "${b64un(36)}";`);
add("generic", "php array", "<?php return [", "    'api_user' => 'acme',", `    'api_secret' => '${lan(32)}',`, "];");
add("generic", "C# field", `private readonly string _encryptionKey = "${b64(43)}=";`);
add("generic", "ruby secrets.yml", "production:", `  secret_key_base: ${hex(128)}`);
add("generic", "yaml jwt secret", "auth:", "  jwt:", `    secret: ${b64(43)}=`, "    expiresIn: 3600");
add("generic", "json access token", `{ "endpoint": "https://erp.acme.io", "access_token": "${an(48)}" }`);
add(
  "generic",
  "shell password export",
  "#!/bin/bash",
  `export DB_PASS='${pw(16)}'`,
  "pg_dump -h db.acme.io -U shop shop > shop.sql",
);
add(
  "generic",
  "docker-compose password",
  "services:",
  "  db:",
  "    image: mariadb:11",
  "    environment:",
  `      MARIADB_ROOT_PASSWORD: ${pw(18)}`,
);
add(
  "generic",
  "command line password",
  `mysqldump -h 10.3.0.9 -u backup --password=${an(16)} shop | gzip > shop.sql.gz`,
);

export const UNSEEN_SAMPLES: readonly { provider: string; kind: string; text: string }[] = samples;
