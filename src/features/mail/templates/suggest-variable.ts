/**
 * Suggests the key of contacts, or the variable of the service, that a misspelt variable may mean.
 */
import { type Effort, findNearest } from '../../../config/layers/closest.ts'
import { MAX_KEYS } from '../../ground/conditions/data-keys.ts'
import { nearestName } from '../../ground/conditions/field-errors.ts'

/** The variables of the service that may be suggested; shorter names resemble too many others. */
const SERVICE_NAMES = [
  ...['unsubscribeUrl', 'subscribeUrl', 'manageUrl', 'postalAddress'],
  ...['email', 'subscribed', 'locale'],
]
/**
 * Names that stand before the keys of contacts in listmonk and in other services, as in `{{
 * subscriber.name }}`.
 */
const OTHER_PREFIXES = new Set(['subscriber', 'subscribers', 'attribs', 'attributes', 'recipient'])
/** The maximum difference in length between a misspelt name and the key that it means. */
const MAX_LENGTH_DIFFERENCE = 20

/** In a shorter name, a single other letter makes another name: `game` is not a slip for `name`. */
const MIN_CHANGED_LENGTH = 5

/**
 * Finds the key that a name may mean. Returns the key or a sentence about it; undefined if there is
 * none. `effort`: the work that is left for all names of a request together.
 */
type Suggest = (name: string, keys: readonly string[], effort: Effort) => string | undefined

/**
 * Returns `Did you mean {{vorname}}?`, or another sentence; undefined if none of the first 500 keys
 * of about its length is similar.
 */
export const suggestVariable: Suggest = suggestBy(nearestName)

/**
 * As `suggestVariable`, for a variable that may well have no value. Only a clear slip counts: other
 * letter case, two neighbours that changed places, or, in names of five letters or more, one letter
 * more, fewer or other for each five. A name with other digits is another one.
 */
export const suggestForSlip: Suggest = suggestBy(findSlip)

/**
 * Makes a `Suggest` of a function that finds the meant key among the keys of about the length of
 * the name.
 */
function suggestBy(find: Suggest): Suggest {
  return (name, keys, effort) => {
    if (OTHER_PREFIXES.has(name.toLowerCase()))
      return `Write the key alone, without "${name}.", such as {{name}}.`
    if (effort.pairs <= 0) return undefined
    const key = find(name, listAlike(name, keys), effort)
    return key === undefined ? undefined : `Did you mean {{${key}}}?`
  }
}

function findSlip(name: string, keys: readonly string[], effort: Effort): string | undefined {
  const written = name.toLowerCase()
  const digits = digitsOf(name)
  /** Charges `effort` for the letters of each key whose digits it reads. */
  const limitOf = (key: string) => {
    const few = Math.max(1, Math.floor(key.length / 5))
    const limit = name.length < MIN_CHANGED_LENGTH ? 0 : few
    if (Math.abs(key.length - name.length) > limit) return -1
    effort.pairs -= key.length
    return digitsOf(key) === digits ? limit : -1
  }
  const plain = (key: string) => key.toLowerCase()
  return (
    findNearest(written, keys, { limitOf, plain, effort }) ?? findSwapped(written, keys, effort)
  )
}

/** Finds the first key that differs only in two neighbouring letters that changed places. */
function findSwapped(written: string, keys: readonly string[], effort: Effort): string | undefined {
  for (const key of keys) {
    if (effort.pairs <= 0) return undefined
    effort.pairs -= 1
    if (key.length !== written.length) continue
    effort.pairs -= key.length
    if (isSwapped(written, key.toLowerCase())) return key
  }
  return undefined
}

function isSwapped(one: string, other: string): boolean {
  let at = 0
  while (at < one.length && one[at] === other[at]) at += 1
  return (
    one[at] === other[at + 1] &&
    one[at + 1] === other[at] &&
    !/\d/.test(one.slice(at, at + 2)) &&
    one.slice(at + 2) === other.slice(at + 2)
  )
}

function digitsOf(name: string): string {
  return name.replace(/\D/g, '')
}

/** Lists the keys of about the length of the name, without the name itself. */
function listAlike(name: string, keys: readonly string[]): string[] {
  const isAlike = (key: string) =>
    key !== name && Math.abs(key.length - name.length) <= MAX_LENGTH_DIFFERENCE
  const alike: string[] = []
  for (const key of keys) {
    if (!isAlike(key)) continue
    alike.push(key)
    if (alike.length === MAX_KEYS) break
  }
  alike.push(...SERVICE_NAMES.filter(isAlike))
  return alike
}
