/**
 * Suggests what an operator meant: the commands nearest to an unknown one, also by words of other
 * mail programs, and the option for an argument that was given without one.
 */

/** A word of our commands -> the words of other mail programs for it. */
const MEANT: Readonly<Record<string, readonly string[]>> = {
  add: ['create', 'make', 'new', 'register'],
  backup: ['dump', 'save'],
  cancel: ['abort', 'stop', 'drop', 'delete', 'remove', 'rm', 'del'],
  create: ['add', 'make', 'new', 'register'],
  delete: ['remove', 'rm', 'del', 'destroy', 'drop'],
  doctor: ['status', 'health', 'diagnose', 'test'],
  hold: ['pause', 'suspend', 'freeze'],
  init: ['initialize', 'initialise', 'setup', 'configure'],
  list: ['ls', 'index', 'all', 'show'],
  password: ['passwd', 'reset'],
  queue: ['mailq', 'messages'],
  release: ['resume', 'unhold', 'unfreeze', 'thaw'],
  remove: ['delete', 'rm', 'del', 'destroy'],
  retry: ['requeue', 'resend', 'flush'],
  serve: ['start', 'run', 'up', 'daemon', 'server'],
  show: ['get', 'view', 'info', 'inspect', 'cat'],
  suppressions: ['blocklist', 'suppress'],
  systemd: ['install', 'service', 'unit'],
}

const MAX_SUGGESTED = 3
const LEAST_LIKENESS = 0.5

/**
 * Returns the commands or groups nearest to the typed words, in any order of the words. `names`:
 * the names of all commands and groups, such as `user create`.
 */
export function suggestCommands(typed: readonly string[], names: readonly string[]): string[] {
  const words = typed.flatMap((word) => word.toLowerCase().split(/[-_:.]/)).filter(Boolean)
  const rated = names.map((name) => ({ name, likeness: likenessOf(words, name.split(' ')) }))
  const best = Math.max(...rated.map(({ likeness }) => likeness))
  if (best < LEAST_LIKENESS) return []
  const nearest = rated.filter(({ likeness }) => likeness === best)
  return nearest.slice(0, MAX_SUGGESTED).map(({ name }) => name)
}

/**
 * The likeness of a name to the typed words, from 0 to 1: for each word of the name, the likeness
 * of the nearest typed word; their sum, divided by the larger number of words.
 */
function likenessOf(typed: readonly string[], name: readonly string[]): number {
  const found = name.map((word) => Math.max(0, ...typed.map((other) => wordLikeness(other, word))))
  return found.reduce((sum, one) => sum + one, 0) / Math.max(typed.length, name.length)
}

function wordLikeness(typed: string, word: string): number {
  if (typed === word) return 1
  if (typed === `${word}s` || word === `${typed}s`) return 0.95
  if (MEANT[word]?.includes(typed)) return 0.9
  const longest = Math.max(typed.length, word.length)
  const near = 1 - distance(typed, word) / longest
  return near >= 0.6 ? near * 0.9 : 0
}

/** The number of letters to insert, remove or replace (Levenshtein distance). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1]
    for (const [column, other] of Array.from(to).entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}

/**
 * An option that takes a value. `flag`: its long name; `takes`: the kind of its value, such as
 * `address`.
 */
type ValueOption = { flag: string; takes: string; isRequired: boolean }

/**
 * Returns the option that probably takes this argument, by the argument's form; undefined if no
 * option is likely.
 */
export function suggestOption(
  argument: string,
  options: readonly ValueOption[],
): ValueOption | undefined {
  const kind = kindOf(argument)
  const fitting = options.filter(({ takes }) => takes === kind)
  const required = options.filter(({ isRequired }) => isRequired)
  const [first] = fitting
  if (first !== undefined) return first
  if (required.length === 1) return required[0]
  return options.length === 1 ? options[0] : undefined
}

function kindOf(argument: string): string {
  if (argument.includes('@')) return 'address'
  if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(argument)) return 'id'
  if (argument.includes('/')) return 'folder'
  return argument.includes('.') ? 'domain' : 'name'
}
