/**
 * Suggests the mail domain that is meant by a mistyped one. A false suggestion is worse than none.
 * A domain that accepts mail is suspicious only if it is a known typo of a large provider. A domain
 * that accepts no mail is compared with well-known mail domains: the first label and the rest
 * separately, each with few changes for its length.
 */

type TypoQuery = {
  /** In A-labels, lower case. */
  domain: string
  /** Undefined where DNS gave no answer. */
  acceptsMail: boolean | undefined
}

/** The mail domains that people mean when they mistype one, most used first. */
export const WELL_KNOWN_DOMAINS: readonly string[] = [
  'gmail.com',
  'yahoo.com',
  'hotmail.com',
  'outlook.com',
  'icloud.com',
  'aol.com',
  'live.com',
  'msn.com',
  'googlemail.com',
  'protonmail.com',
  'proton.me',
  'fastmail.com',
  'ymail.com',
  'zoho.com',
  'gmx.de',
  'gmx.net',
  'gmx.at',
  'gmx.ch',
  'gmx.com',
  'web.de',
  't-online.de',
  'freenet.de',
  'posteo.de',
  'mailbox.org',
  'yahoo.co.uk',
  'hotmail.co.uk',
  'live.co.uk',
  'outlook.co.uk',
  'btinternet.com',
  'virginmedia.com',
  'yahoo.de',
  'hotmail.de',
  'outlook.de',
  'yahoo.fr',
  'hotmail.fr',
  'outlook.fr',
  'live.fr',
  'orange.fr',
  'wanadoo.fr',
  'laposte.net',
  'free.fr',
  'yahoo.it',
  'hotmail.it',
  'libero.it',
  'virgilio.it',
  'yahoo.es',
  'hotmail.es',
  'outlook.es',
  'yahoo.com.br',
  'outlook.com.br',
  'uol.com.br',
  'terra.com.br',
  'yahoo.co.in',
  'rediffmail.com',
  'yahoo.co.jp',
  'yahoo.ca',
  'yahoo.com.au',
  'bigpond.com',
  'optusnet.com.au',
  'comcast.net',
  'verizon.net',
  'att.net',
  'sbcglobal.net',
  'bellsouth.net',
  'earthlink.net',
  'hotmail.nl',
  'ziggo.nl',
  'telenet.be',
  'bluewin.ch',
  'seznam.cz',
  'yandex.ru',
  'mail.ru',
  'rambler.ru',
]

/**
 * Typos that are registered domains of others and accept mail: only the name reveals them, and mail
 * to them arrives at the wrong place.
 */
const TYPOS: Readonly<Record<string, readonly string[]>> = {
  'gmail.com': [
    'gamil.com',
    'gmai.com',
    'gmaill.com',
    'gmal.com',
    'gmali.com',
    'gmaul.com',
    'gmial.com',
    'gmil.com',
    'gmqil.com',
    'gmsil.com',
    'gnail.com',
    'gmail.cm',
    'gmail.co',
    'gmail.om',
  ],
  'yahoo.com': ['yaho.com', 'yahho.com', 'yahooo.com', 'yaoo.com', 'yhaoo.com', 'yhoo.com'],
  'hotmail.com': [
    'hotamil.com',
    'hotmai.com',
    'hotmaill.com',
    'hotmal.com',
    'hotmial.com',
    'hotmil.com',
    'hotnail.com',
    'htomail.com',
    'hotmail.cm',
    'hotmail.co',
    'hotmail.om',
  ],
  'outlook.com': ['oulook.com', 'outllook.com', 'outlok.com', 'outloo.com', 'outook.com'],
  'icloud.com': ['iclod.com', 'iclould.com', 'iclud.com', 'icoud.com', 'icloud.co'],
  'googlemail.com': ['googelmail.com', 'googlemial.com', 'googlmail.com'],
  'protonmail.com': ['protonmai.com', 'protonmial.com', 'protomail.com'],
}

/** The domain that was meant, by its typo. */
export const KNOWN_TYPOS: ReadonlyMap<string, string> = new Map(
  Object.entries(TYPOS).flatMap(([meant, typos]) => typos.map((typo) => [typo, meant] as const)),
)

/** Returns the suggested domain; undefined if nothing is wrong or no known domain is similar. */
export function suggestDomain({ domain, acceptsMail }: TypoQuery): string | undefined {
  const meantByTypo = KNOWN_TYPOS.get(domain)
  if (meantByTypo !== undefined) return meantByTypo
  if (acceptsMail !== false || WELL_KNOWN_DOMAINS.includes(domain)) return undefined
  let best: { meant: string; changes: number } | undefined
  for (const meant of WELL_KNOWN_DOMAINS) {
    const changes = compare(domain, meant)
    if (changes < (best?.changes ?? Number.POSITIVE_INFINITY)) best = { meant, changes }
  }
  return best?.meant
}

/** Counts the changes from one domain to the other; infinite if there are too many. */
function compare(domain: string, meant: string): number {
  const [name, suffix] = splitDomain(domain)
  const [meantName, meantSuffix] = splitDomain(meant)
  const ofSuffix = countTypos(suffix, meantSuffix, allowedInSuffix(suffix, meantSuffix))
  return ofSuffix + countTypos(name, meantName, allowedInName(meantName))
}

/** Short names are close to each other and to ordinary words. */
function allowedInName(name: string): number {
  if (name.length <= 4) return 0
  return name.length <= 8 ? 1 : 2
}

/** The domain of one country is not a typo of another's. */
function allowedInSuffix(suffix: string, meant: string): number {
  return suffix.length === 2 && meant.length === 2 ? 0 : 1
}

function splitDomain(domain: string): [name: string, suffix: string] {
  const dot = domain.indexOf('.')
  return [domain.slice(0, dot), domain.slice(dot + 1)]
}

/**
 * Counts letters that are added, missing, replaced or swapped with their neighbour (optimal string
 * alignment distance); infinite beyond `limit`.
 */
function countTypos(from: string, to: string, limit: number): number {
  if (from === to) return 0
  if (Math.abs(from.length - to.length) > limit) return Number.POSITIVE_INFINITY
  let before: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const isSame = from[i - 1] === to[j - 1]
      const replaced = at(row, j - 1) + (isSame ? 0 : 1)
      const isSwapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const swapped = i > 1 && j > 1 && isSwapped ? at(before, j - 2) + 1 : replaced
      next[j] = Math.min(replaced, swapped, at(row, j) + 1, at(next, j - 1) + 1)
    }
    before = row
    row = next
  }
  const typos = at(row, to.length)
  return typos <= limit ? typos : Number.POSITIVE_INFINITY
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
