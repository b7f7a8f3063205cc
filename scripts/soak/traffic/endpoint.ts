/** Webhook endpoints that come and go beside the one that the ledger watches. */
import type { Handler } from './traffic.ts'

const DESCRIPTION = 'comes and goes'

type Endpoint = { id: string; description: string | null }

/** Removes what an earlier operation left behind, creates an endpoint and tests it. */
export const changeEndpoint: Handler = async ({ main, hookUrl }) => {
  const listed = await main.api.ask({ method: 'GET', path: '/webhooks/endpoints' })
  if (listed.outcome !== 'acknowledged') return
  const { data } = listed.body as { data: Endpoint[] }
  for (const { id, description } of data) {
    if (description !== DESCRIPTION) continue
    await main.api.ask({
      ...{
        method: 'DELETE',
        path: `/webhooks/endpoints/${id}`,
        isRepeatable: true,
        expects: [404],
      },
    })
  }
  const body = { url: `${hookUrl}/extra`, events: ['email.bounce'], description: DESCRIPTION }
  const made = await main.api.ask({ method: 'POST', path: '/webhooks/endpoints', body })
  if (made.outcome !== 'acknowledged') return
  const { id } = made.body as Endpoint
  await main.api.ask({
    ...{ method: 'POST', path: `/webhooks/endpoints/${id}/test`, expects: [404] },
  })
}
