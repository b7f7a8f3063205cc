/** Reads of every kind: lists, figures, exports, the state of the server. */
import type { Handler } from './traffic.ts'

const PATHS = [
  '/contacts?limit=50',
  '/contacts?search=c1',
  '/contacts/fields',
  '/contacts/export?search=c2',
  '/emails?limit=50',
  '/emails?search=gone',
  '/events?limit=50',
  '/events/names',
  '/activity?limit=20&fields=summary',
  '/activity/stats',
  '/analytics/overview',
  '/analytics/timeseries',
  '/analytics/deliverability',
  '/analytics/links',
  '/campaigns',
  '/workflows',
  '/webhooks/endpoints',
  '/suppressions',
  '/segments',
  '/templates',
] as const

const PUBLIC_PATHS = ['/health', '/metrics', '/openapi.json', '/docs/guide'] as const

export const read: Handler = async ({ main }, { lots }) => {
  const all = [...PATHS, ...PUBLIC_PATHS]
  const path = all[Math.floor(lots[0] * all.length)] ?? PATHS[0]
  const isPublic = (PUBLIC_PATHS as readonly string[]).includes(path)
  await main.api.ask({ method: 'GET', path, isPublic })
}
