/**
 * Services that forward mail to an address that they hide. People use them on purpose and read the
 * mail. A domain includes its subdomains, because some services give each user a subdomain.
 *
 * Only domains that serve aliases alone are listed, because aliases at icloud.com and Fastmail look
 * like ordinary addresses. StartMail's domain is listed although it has ordinary addresses too.
 */
export const ALIAS_DOMAINS: readonly string[] = [
  // Apple: Hide My Email of Sign in with Apple
  'privaterelay.appleid.com',
  // Firefox Relay
  'mozmail.com',
  'relay.firefox.com',
  // SimpleLogin
  '8alias.com',
  '8shield.net',
  'aleeas.com',
  'dralias.com',
  'silomails.com',
  'simplelogin.co',
  'simplelogin.com',
  'simplelogin.fr',
  'simplelogin.io',
  'slmail.me',
  'slmails.com',
  // addy.io, once AnonAddy
  'addy.io',
  'addymail.com',
  'anonaddy.com',
  'anonaddy.me',
  // DuckDuckGo Email Protection
  'duck.com',
  // 33Mail
  '33mail.com',
  // Proton Pass
  'passfwd.com',
  'passinbox.com',
  'passmail.com',
  'passmail.net',
  // IronVest, once Blur
  'ironvest.com',
  'opayq.com',
  // Cloaked
  'clkdmail.com',
  'cloaked.id',
  'mycloaked.id',
  'myclkd.email',
  // erine.email
  'erine.email',
  // StartMail
  'startmail.com',
]
