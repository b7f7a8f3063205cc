/**
 * Suggests the mail domain that is meant by a mistyped one. A false suggestion is worse than none.
 * A domain that accepts mail is suspicious only if it is a known typo of a large provider. A domain
 * that accepts no mail is compared with well-known mail domains: the first label and the rest
 * separately, each with few changes for its length.
 */
import { KNOWN_TYPOS, WELL_KNOWN_DOMAINS } from './well-known-domains.ts'

type TypoQuery = {
  /** In A-labels, lower case. */
  domain: string
  /** Undefined where DNS gave no answer. */
  acceptsMail: boolean | undefined
}

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
