/**
 * The lists of disposable, free and forwarding mail domains. A file `<data_dir>/lists/<name>.txt`
 * replaces a list that is shipped with the program. Lists are read at the first use; later uses
 * check the files every few seconds and read changed ones again. An invalid file is logged once,
 * and the previous list stays in use.
 */
import path from 'node:path'
import type { Now } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import type { Log } from '../../../../base/log.ts'
import {
  type FileStamp,
  LIST_NAMES,
  type ListName,
  readListFile,
  readShippedList,
  stampOf,
} from './list-files.ts'

/** `domain` in A-labels, lower case. */
export type DomainTraits = {
  /** Matches the domain or a parent domain. */
  isDisposable(domain: string): boolean
  /** Matches the domain itself only. */
  isFree(domain: string): boolean
  /** Matches the domain or a parent domain. */
  isAlias(domain: string): boolean
}

export type DomainLists = { load(): Promise<DomainTraits> }

type DomainListsOptions = { dataDir: string; now: Now; log: Log }

type LoadedList = { stamp: FileStamp; domains: Set<string> }
type DomainListsState = {
  folder: string
  log: Log
  loaded: Map<ListName, LoadedList>
  traits: DomainTraits | undefined
  checking: Promise<DomainTraits> | undefined
  checkedAt: number
}

const CHECK_EVERY_MS = 3_000

export function createDomainLists({ dataDir, now, log }: DomainListsOptions): DomainLists {
  const state: DomainListsState = {
    folder: path.join(dataDir, 'lists'),
    log,
    loaded: new Map(),
    traits: undefined,
    checking: undefined,
    checkedAt: Number.NEGATIVE_INFINITY,
  }
  return {
    async load() {
      const isFresh = Math.abs(now() - state.checkedAt) < CHECK_EVERY_MS
      if (isFresh && state.traits !== undefined) return state.traits
      state.checking ??= checkAll(state).finally(() => {
        state.checking = undefined
        state.checkedAt = now()
      })
      return state.checking
    },
  }
}

async function checkAll(state: DomainListsState): Promise<DomainTraits> {
  const found = await Promise.all(LIST_NAMES.map((name) => checkList(state, name)))
  for (const [index, name] of LIST_NAMES.entries()) {
    const loaded = found[index]
    if (loaded !== undefined) state.loaded.set(name, loaded)
  }
  state.traits = toDomainTraits(state.loaded)
  return state.traits
}

/** Returns the new list; undefined if the loaded list is still up to date. */
async function checkList(
  { folder, log, loaded }: DomainListsState,
  name: ListName,
): Promise<LoadedList | undefined> {
  const before = loaded.get(name)
  const file = path.join(folder, `${name}.txt`)
  try {
    const stamp = await stampOf(file)
    if (before !== undefined && before.stamp === stamp) return undefined
    if (stamp === undefined) return { stamp, domains: readShippedList(name) }
    return await readChanged(file, { name, stamp, log, before })
  } catch (error) {
    if (before !== undefined) return undefined
    log.warn({ file, error: describeError(error) }, 'a list of domains cannot be checked')
    return { stamp: undefined, domains: readShippedList(name) }
  }
}

type ChangedFile = { name: ListName; stamp: string; log: Log; before: LoadedList | undefined }

async function readChanged(
  file: string,
  { name, stamp, log, before }: ChangedFile,
): Promise<LoadedList> {
  try {
    const domains = await readListFile(file)
    log.info({ file, domains: domains.size }, 'a list of domains was read')
    return { stamp, domains }
  } catch (error) {
    log.warn({ file, error: describeError(error) }, 'a list of domains was rejected')
    return { stamp, domains: before?.domains ?? readShippedList(name) }
  }
}

function toDomainTraits(loaded: DomainListsState['loaded']): DomainTraits {
  const [disposable, free, alias] = [
    loaded.get('disposable'),
    loaded.get('free'),
    loaded.get('alias'),
  ]
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
