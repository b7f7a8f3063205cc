/**
 * Names the mailbox provider of an address, as people know it: by the domain of the address if a
 * provider owns that domain, else by the mail server that receives for the domain. Sources of the
 * lists: the providers' own pages for senders and set-up guides.
 */

/**
 * The name for every other provider, and for mail whose receiving server is unknown, such as all
 * mail through a smarthost.
 */
export const OTHER_PROVIDER = 'Other'

const GMAIL = 'Gmail'

const OUTLOOK = 'Outlook'

const YAHOO = 'Yahoo'

const ICLOUD = 'iCloud'

const DOMAINS: Readonly<Record<string, string>> = {
  [GMAIL]: 'gmail.com googlemail.com',
  [OUTLOOK]: `outlook.com hotmail.com live.com msn.com passport.com windowslive.com
    outlook.at outlook.be outlook.cl outlook.cz outlook.co.id outlook.co.il outlook.co.th
    outlook.co.uk outlook.com.ar outlook.com.au outlook.com.br outlook.com.gr outlook.com.pe
    outlook.com.tr outlook.com.vn outlook.de outlook.dk outlook.es outlook.fr outlook.hu
    outlook.ie outlook.in outlook.it outlook.jp outlook.kr outlook.lv outlook.my outlook.ph
    outlook.pt outlook.sa outlook.sg outlook.sk
    hotmail.be hotmail.ca hotmail.ch hotmail.cl hotmail.co.id hotmail.co.il hotmail.co.jp
    hotmail.co.kr hotmail.co.th hotmail.co.uk hotmail.co.za hotmail.com.ar hotmail.com.au
    hotmail.com.br hotmail.com.tr hotmail.com.vn hotmail.cz hotmail.de hotmail.dk hotmail.es
    hotmail.fi hotmail.fr hotmail.gr hotmail.hu hotmail.it hotmail.my hotmail.nl hotmail.no
    hotmail.ph hotmail.rs hotmail.se hotmail.sg hotmail.sk
    live.at live.be live.ca live.ch live.cl live.cn live.co.kr live.co.uk live.co.za live.com.ar
    live.com.au live.com.mx live.com.my live.com.pt live.com.sg live.de live.dk live.fi live.fr
    live.hk live.ie live.in live.it live.jp live.nl live.no live.ru live.se`,
  [YAHOO]: `yahoo.com ymail.com rocketmail.com myyahoo.com aol.com aol.co.uk aol.de aol.fr aim.com
    verizon.net yahoo.at yahoo.be yahoo.ca yahoo.cl yahoo.co.id yahoo.co.il yahoo.co.in yahoo.co.kr
    yahoo.co.nz yahoo.co.th yahoo.co.uk yahoo.co.za yahoo.com.ar yahoo.com.au yahoo.com.br
    yahoo.com.co yahoo.com.hk yahoo.com.mx yahoo.com.my yahoo.com.pe yahoo.com.ph yahoo.com.sg
    yahoo.com.tr yahoo.com.tw yahoo.com.ve yahoo.com.vn yahoo.cz yahoo.de yahoo.dk yahoo.es
    yahoo.fi yahoo.fr yahoo.gr yahoo.hu yahoo.ie yahoo.in yahoo.it yahoo.nl yahoo.no yahoo.pl
    yahoo.pt yahoo.ro yahoo.se`,
  [ICLOUD]: 'icloud.com me.com mac.com',
  'Yahoo Japan': 'yahoo.co.jp ybb.ne.jp',
  Proton: 'proton.me protonmail.com protonmail.ch pm.me',
  Fastmail: 'fastmail.com fastmail.fm',
  Zoho: 'zoho.com zoho.eu zohomail.com zohomail.eu',
  GMX: 'gmx.net gmx.de gmx.at gmx.ch gmx.com gmx.eu gmx.fr gmx.co.uk gmx.us',
  'WEB.DE': 'web.de email.de',
  'mail.com': 'mail.com email.com',
  'T-Online': 't-online.de magenta.de',
  freenet: 'freenet.de',
  Posteo: 'posteo.de posteo.net',
  'mailbox.org': 'mailbox.org',
  Orange: 'orange.fr wanadoo.fr',
  'La Poste': 'laposte.net',
  Free: 'free.fr',
  SFR: 'sfr.fr neuf.fr',
  Libero: 'libero.it virgilio.it iol.it',
  Seznam: 'seznam.cz email.cz',
  Yandex: 'yandex.ru yandex.com ya.ru yandex.kz yandex.by',
  'Mail.ru': 'mail.ru inbox.ru list.ru bk.ru internet.ru',
  QQ: 'qq.com foxmail.com vip.qq.com',
  NetEase: '163.com 126.com yeah.net',
  Naver: 'naver.com',
  Comcast: 'comcast.net',
  'AT&T': 'att.net sbcglobal.net bellsouth.net pacbell.net',
  Spectrum: 'charter.net rr.com roadrunner.com',
  BT: 'btinternet.com btopenworld.com',
  UOL: 'uol.com.br bol.com.br',
  Terra: 'terra.com.br',
  Rediffmail: 'rediffmail.com',
  Bluewin: 'bluewin.ch',
  Telenet: 'telenet.be',
  Ziggo: 'ziggo.nl',
  Telstra: 'bigpond.com bigpond.net.au telstra.com',
}

/** Hosts that receive for many customers' domains: a host is one of these names or a subdomain of one. */
const HOSTS: Readonly<Record<string, string>> = {
  'Google Workspace': 'google.com googlemail.com smtp.goog',
  // Must stand before the hosts for business customers, because the name of this host ends with
  // one of theirs.
  [OUTLOOK]: 'olc.protection.outlook.com',
  'Microsoft 365': 'protection.outlook.com mx.microsoft',
  [YAHOO]: 'yahoodns.net',
  'Yahoo Japan': 'mail.yahoo.co.jp',
  [ICLOUD]: 'mail.icloud.com',
  Proton: 'protonmail.ch',
  Fastmail: 'messagingengine.com',
  Zoho: 'zoho.com zoho.eu zoho.in zohomail.com',
  GMX: 'gmx.net gmx.com',
  'WEB.DE': 'web.de',
  IONOS: 'kundenserver.de ionos.com ionos.de ionos.co.uk perfora.net',
  Orange: 'orange.fr wanadoo.fr',
  Comcast: 'comcast.net',
  Yandex: 'yandex.ru yandex.net',
  'Mail.ru': 'mail.ru',
  QQ: 'qq.com',
  OVH: 'ovh.net',
  Gandi: 'gandi.net',
  Infomaniak: 'infomaniak.ch',
  GoDaddy: 'secureserver.net',
  Namecheap: 'privateemail.com registrar-servers.com',
  Rackspace: 'emailsrvr.com',
  'Amazon WorkMail': 'amazonaws.com',
  Cloudflare: 'mx.cloudflare.net',
  Mimecast: 'mimecast.com mimecast.co.za',
  Proofpoint: 'pphosted.com ppe-hosted.com',
  Barracuda: 'barracudanetworks.com',
  'Cisco Secure Email': 'iphmx.com',
  Hornetsecurity: 'hornetsecurity.com antispameurope.com',
  Trellix: 'fireeyecloud.com',
  'Trend Micro': 'trendmicro.com trendmicro.eu',
}

const NAME_OF_DOMAIN = toMap(DOMAINS)

const NAME_OF_HOST = toMap(HOSTS)

/** All names that `providerOfDomain` and `providerOfHost` return. */
export const PROVIDER_NAMES: readonly string[] = [
  ...new Set([...Object.keys(DOMAINS), ...Object.keys(HOSTS), OTHER_PROVIDER]),
]

/** The domains of all providers, and the hosts. */
export const PROVIDER_DOMAINS: readonly string[] = [...NAME_OF_DOMAIN.keys()]
export const PROVIDER_HOSTS: readonly string[] = [...NAME_OF_HOST.keys()]

export function domainsOfProvider(name: string): string[] {
  return PROVIDER_DOMAINS.filter((domain) => NAME_OF_DOMAIN.get(domain) === name)
}

export function hostsOfProvider(name: string): string[] {
  return PROVIDER_HOSTS.filter((host) => NAME_OF_HOST.get(host) === name)
}

/** `domain`: lower case, A-labels. Undefined if no provider owns the domain. */
export function providerOfDomain(domain: string): string | undefined {
  return NAME_OF_DOMAIN.get(domain)
}

/**
 * Whether a name itself is in the list of providers' hosts; a subdomain of a listed host is not.
 */
export function isProviderHost(name: string): boolean {
  return NAME_OF_HOST.has(name)
}

/**
 * Names the provider of an address: by its domain (lower case, A-labels), else by the server that
 * receives for the domain.
 */
export function providerOf(domain: string, host: string | null | undefined): string {
  return providerOfDomain(domain) ?? providerOfHost(host)
}

/** `host`: the server that accepted or refused the email; null if none is known. */
export function providerOfHost(host: string | null | undefined): string {
  let name = host?.toLowerCase() ?? ''
  for (let dot = 0; dot !== -1; ) {
    const found = NAME_OF_HOST.get(name)
    if (found !== undefined) return found
    dot = name.indexOf('.')
    name = name.slice(dot + 1)
  }
  return OTHER_PROVIDER
}

function toMap(names: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(names).flatMap(([name, list]) =>
      list.split(/\s+/).map((each) => [each, name] as const),
    ),
  )
}
