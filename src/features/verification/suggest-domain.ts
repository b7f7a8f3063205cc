/**
 * Which mail domain was meant by a mistyped one. A false suspicion is worse than none: a domain that
 * takes mail is somebody's, so only the known slips of the largest providers are named there. What
 * takes no mail is compared with well-known mail domains: the name and what follows it separately,
 * each with few changes for its length.
 */
import { KNOWN_TYPOS, WELL_KNOWN_DOMAINS } from './well-known-domains.ts'

export type TypoQuestion = {
  /** In A-labels, lower case. */
  domain: string
  /** Undefined = nobody could say. */
  takesMail: boolean | undefined
}

/** The domain to suggest; undefined where nothing is wrong or nothing comes near. */
export function suggestDomain({ domain, takesMail }: TypoQuestion): string | undefined {
  const slipOf = KNOWN_TYPOS.get(domain)
  if (slipOf !== undefined) return slipOf
  if (takesMail !== false || WELL_KNOWN_DOMAINS.includes(domain)) return undefined
  let best: { meant: string; changes: number } | undefined
  for (const meant of WELL_KNOWN_DOMAINS) {
    const changes = compare(domain, meant)
    if (changes < (best?.changes ?? Number.POSITIVE_INFINITY)) best = { meant, changes }
  }
  return best?.meant
}

/** Changes from one domain to the other; infinite where they are too many. */
function compare(domain: string, meant: string): number {
  const [name, suffix] = splitDomain(domain)
  const [meantName, meantSuffix] = splitDomain(meant)
  const ofSuffix = countSlips(suffix, meantSuffix, allowedInSuffix(suffix, meantSuffix))
  return ofSuffix + countSlips(name, meantName, allowedInName(meantName))
}

/** Short names are all near to each other, and to words. */
function allowedInName(name: string): number {
  if (name.length <= 4) return 0
  return name.length <= 8 ? 1 : 2
}

/** One country's domain is not another's mistyped. */
function allowedInSuffix(suffix: string, meant: string): number {
  return suffix.length === 2 && meant.length === 2 ? 0 : 1
}

function splitDomain(domain: string): [name: string, suffix: string] {
  const dot = domain.indexOf('.')
  return [domain.slice(0, dot), domain.slice(dot + 1)]
}

/**
 * Letters added, left out, replaced or exchanged with their neighbour (optimal string alignment);
 * infinite beyond `limit`.
 */
function countSlips(from: string, to: string, limit: number): number {
  if (from === to) return 0
  if (Math.abs(from.length - to.length) > limit) return Number.POSITIVE_INFINITY
  let before: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const isSame = from[i - 1] === to[j - 1]
      const replaced = at(row, j - 1) + (isSame ? 0 : 1)
      const isExchanged = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const exchanged = i > 1 && j > 1 && isExchanged ? at(before, j - 2) + 1 : replaced
      next[j] = Math.min(replaced, exchanged, at(row, j) + 1, at(next, j - 1) + 1)
    }
    before = row
    row = next
  }
  const slips = at(row, to.length)
  return slips <= limit ? slips : Number.POSITIVE_INFINITY
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
