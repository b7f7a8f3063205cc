/**
 * What the server that runs this very process knows of a project's mail, for the API. What led to a
 * destination's back-off is left out: it may be a reply to another project's mail, whose addresses it
 * names. The reply to the email itself is told all the same.
 */
import type { FindLiveState } from './explain-emails.ts'
import { findLiveStatus, type LiveDeps } from './live-status.ts'

export function findLiveStateForProject(deps: LiveDeps): FindLiveState {
  return async (question) => {
    const { sites, ...answer } = await findLiveStatus(deps, question)
    const shown = Object.entries(sites).map(([domain, site]) => {
      const status = site.status === null ? null : { ...site.status, cause: null }
      return [domain, { ...site, status }] as const
    })
    return { server: 'running', ...answer, sites: Object.fromEntries(shown) }
  }
}
