/**
 * The label of a site in `/metrics`. Only sites that receive mail for many domains have a label of their own: the
 * names in two fixed lists of the program. A site may also be named after the recipient's own domain, which no
 * label may show, so every other site is `other`.
 */
import { findProvider } from '../../../outbound/routing/providers.ts'
import { isProviderHost } from '../../insight/analytics/counting/providers.ts'

export const OTHER_SITE = 'other'

/** `site`: as `outbound.siteOf` names it, or a domain whose site is not known. */
export function siteLabel(site: string): string {
  return findProvider(site) !== undefined || isProviderHost(site) ? site : OTHER_SITE
}
