/**
 * What the server that runs this very process knows of a project's mail, for the API. What led to a
 * destination's back-off is left out: it may be a reply to another project's mail, whose addresses it
 * names. The reply to the email itself is told all the same.
 */
import type { FindLive } from './explain-emails.ts'
import { describeLive, type LiveDeps } from './live-status.ts'

export function findLiveForProject(deps: LiveDeps): FindLive {
  return async (question) => {
    const { sites, ...answer } = await describeLive(deps, question)
    const shown = Object.entries(sites).map(([domain, site]) => {
      const status = site.status === null ? null : { ...site.status, cause: null }
      return [domain, { ...site, status }] as const
    })
    return { server: 'running', ...answer, sites: Object.fromEntries(shown) }
  }
}
