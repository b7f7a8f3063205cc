/**
 * The live status of a project's mail, for the API, which runs in the server's process. The cause of
 * a site's back-off is left out: it may be a reply to another project's mail, with its addresses. The
 * replies to the project's own emails are shown.
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
