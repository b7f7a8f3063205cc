/** The calls behind the answer of the overview. Each may fail without the others. */
import type { Answer } from '../../api/client.ts'
import { useCall, useProjectId } from '../../api/queries.ts'
import { config, isOperator } from '../../api/session.ts'
import { findAnswer, type MailAnswer } from '../../logic/answer.ts'
import { useProject } from '../../ui/use-project.ts'

/** What a chart or a list shows. */
export const PANEL_MS = 60_000
/** What changes by the day. An idle page makes at most 12 requests a minute in all. */
export const CALM_MS = 120_000

export type Overview = Answer<'GET /analytics/overview'>

/** `sent`: undefined until it is known. */
export function useAnswer(sent: number | undefined): MailAnswer & { isLoading: boolean } {
  const { id = '', disabled = false, disabledReason } = useProject() ?? {}
  const params = { id }
  const receivers = useReceivers()
  const security = useCall('GET /projects/{id}/security', { params }, { poll: CALM_MS })
  const caps = useCaps()
  const domains = useCall(
    'GET /domains/project/{projectId}',
    { params: { projectId: id } },
    { poll: CALM_MS },
  )
  const checks = useCall('GET /health/checks', {}, { poll: CALM_MS, isEnabled: isOperator.value })
  const asked = [receivers, security, caps, domains, ...(isOperator.value ? [checks] : [])]
  const answer = findAnswer({
    isSandbox: config.value?.environment === 'sandbox',
    isDisabled: disabled,
    disabledReason,
    receivers: receivers.data,
    security: security.data?.data.status,
    caps: caps.data,
    domains: domains.data,
    checks: isOperator.value ? checks.data : null,
    sent,
  })
  return { ...answer, isLoading: asked.some((query) => query.isPending) }
}

export function useReceivers() {
  const id = useProjectId() ?? ''
  return useCall('GET /projects/{id}/receivers', { params: { id } }, { poll: 'live' })
}

export function useCaps() {
  const id = useProjectId() ?? ''
  return useCall(
    'GET /users/@me/projects/{id}/billing-limits',
    { params: { id } },
    { poll: CALM_MS },
  )
}
