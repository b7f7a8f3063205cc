/**
 * Services that forward mail to an address they hide (contract 14.4). People use them on purpose
 * and read what arrives; one domain counts with all below it, for some give each user a subdomain.
 *
 * Apple's addresses at icloud.com and StartMail's and Fastmail's at their own domains look like
 * anybody's there, so only what serves aliases alone is listed, StartMail's domain excepted: it is
 * named by the contract.
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
