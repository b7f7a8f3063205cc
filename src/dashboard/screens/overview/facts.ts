/** The calls behind the answer of the overview. Each may fail without the others. */
import type { Answer } from '../../api/client.ts'
import { failureOf, useCall, useProjectId } from '../../api/queries.ts'
import { config, isOperator } from '../../api/session.ts'
import { findAnswer, type MailAnswer } from '../../logic/answer.ts'
import { useProject } from '../../ui/use-project.ts'

/** What a chart or a list shows. */
export const PANEL_MS = 60_000
/** What changes by the day. An idle page makes at most 12 requests a minute in all. */
export const CALM_MS = 120_000

export type Overview = Answer<'GET /analytics/overview'>

/** What the range is asked for by. */
export type AskedRange = { from: string; to: string; tz: string }

/** The figures of the range, which several parts show. */
export function useOverview(asked: AskedRange) {
  return useCall('GET /analytics/overview', { query: asked }, { poll: 'live', keep: true })
}

export type LoadedAnswer = MailAnswer & {
  isLoading: boolean
  /** Of a part of the answer that is unknown or old. */
  failure: Error | undefined
  asOf: number
  retry(): void
}

/** `sent`: undefined until it is known. */
export function useAnswer(sent: number | undefined): LoadedAnswer {
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
  const failing = asked.filter((query) => failureOf(query) !== null)
  const [first] = failing
  return {
    ...answer,
    isLoading: asked.some((query) => query.isPending),
    failure: first === undefined ? undefined : (failureOf(first) ?? undefined),
    asOf: Math.min(...failing.map(({ dataUpdatedAt }) => dataUpdatedAt)),
    retry: () => {
      for (const query of failing) void query.refetch()
    },
  }
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
