/**
 * What is known of mail domains: which are disposable, which belong to free providers, which
 * forward. The lists shipped with the program hold until `<data_dir>/lists/<name>.txt` stands in
 * place of one of them. Nothing is read before the first question; then the files are looked at
 * every few seconds and read again when they changed. A file that is no list is logged, once, and
 * what held before it holds on.
 */
import path from 'node:path'
import type { Now } from '../../../clock.ts'
import { describeError } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import { type FileStamp, readListFile, stampOf } from './list-file.ts'
import { LIST_NAMES, type ListName, readShippedList } from './shipped-lists.ts'

/** `domain` in A-labels, lower case. */
export type KnownDomains = {
  /** It, or a domain above it. */
  isDisposable(domain: string): boolean
  /** Exactly it. */
  isFree(domain: string): boolean
  /** It, or a domain above it. */
  isAlias(domain: string): boolean
}

export type DomainLists = { load(): Promise<KnownDomains> }

export type DomainListsOptions = { dataDir: string; now: Now; log: Log }

type Held = { stamp: FileStamp; domains: Set<string> }
type State = {
  folder: string
  log: Log
  held: Map<ListName, Held>
  known: KnownDomains | undefined
  looking: Promise<KnownDomains> | undefined
  lookedAt: number
}

const LOOK_EVERY_MS = 3_000

export function createDomainLists({ dataDir, now, log }: DomainListsOptions): DomainLists {
  const state: State = {
    folder: path.join(dataDir, 'lists'),
    log,
    held: new Map(),
    known: undefined,
    looking: undefined,
    lookedAt: Number.NEGATIVE_INFINITY,
  }
  return {
    async load() {
      const isFresh = Math.abs(now() - state.lookedAt) < LOOK_EVERY_MS
      if (isFresh && state.known !== undefined) return state.known
      state.looking ??= look(state).finally(() => {
        state.looking = undefined
        state.lookedAt = now()
      })
      return state.looking
    },
  }
}

async function look(state: State): Promise<KnownDomains> {
  const found = await Promise.all(LIST_NAMES.map((name) => lookAt(state, name)))
  for (const [index, name] of LIST_NAMES.entries()) {
    const held = found[index]
    if (held !== undefined) state.held.set(name, held)
  }
  state.known = toKnownDomains(state.held)
  return state.known
}

/** What to hold from now on; undefined = what is held. */
async function lookAt({ folder, log, held }: State, name: ListName): Promise<Held | undefined> {
  const before = held.get(name)
  const file = path.join(folder, `${name}.txt`)
  try {
    const stamp = await stampOf(file)
    if (before !== undefined && before.stamp === stamp) return undefined
    if (stamp === undefined) return { stamp, domains: readShippedList(name) }
    return await take(file, { name, stamp, log, before })
  } catch (error) {
    if (before !== undefined) return undefined
    log.warn({ file, error: describeError(error) }, 'a list of domains cannot be looked at')
    return { stamp: undefined, domains: readShippedList(name) }
  }
}

type Taking = { name: ListName; stamp: string; log: Log; before: Held | undefined }

async function take(file: string, { name, stamp, log, before }: Taking): Promise<Held> {
  try {
    const domains = await readListFile(file)
    log.info({ file, domains: domains.size }, 'a list of domains was read')
    return { stamp, domains }
  } catch (error) {
    log.warn({ file, error: describeError(error) }, 'a list of domains was not taken')
    return { stamp, domains: before?.domains ?? readShippedList(name) }
  }
}

function toKnownDomains(held: State['held']): KnownDomains {
  const [disposable, free, alias] = [held.get('disposable'), held.get('free'), held.get('alias')]
  return {
    isDisposable: (domain) => isAtOrBelow(domain, disposable?.domains),
    isFree: (domain) => free?.domains.has(domain) ?? false,
    isAlias: (domain) => isAtOrBelow(domain, alias?.domains),
  }
}

function isAtOrBelow(domain: string, domains: Set<string> = new Set()): boolean {
  const labels = domain.split('.')
  return labels.some((_, index) => domains.has(labels.slice(index).join('.')))
}
