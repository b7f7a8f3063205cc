/** A server whose users log in with providers. */
import type { TestContext } from 'node:test'
import { createLog } from '../../../../src/base/log.ts'
import type { AccountsConfig } from '../../../../src/config/config.ts'
import {
  createIdentityProviders,
  type ProviderSites,
} from '../../../../src/features/tenancy/accounts/oauth/providers.ts'
import { startHttp } from '../../../../src/http/server/server.ts'
import { ne } from '../../../../src/store/drizzle.ts'
import { identities, sessions, users } from '../../../../src/store/schema/accounts.ts'
import { openTestCore, type TestCore } from '../../../core.ts'
import { addUser } from '../../../session.ts'
import { type Browser, createBrowser } from './browser.ts'

export const BASE_URL = 'https://mail.pillarbox.test'

export type LoginServer = {
  core: TestCore
  browser(): Browser
  /** Where the server listens. */
  url: string
  /** The lines of the log. */
  log: string[]
  /** All users but the first, identities and sessions. */
  people(): Promise<{
    users: (typeof users.$inferSelect)[]
    identities: (typeof identities.$inferSelect)[]
    sessions: (typeof sessions.$inferSelect)[]
  }>
}

type Options = {
  accounts: Partial<AccountsConfig>
  sites?: ProviderSites
  timeoutMs?: number
  baseUrl?: string
  /** Whether the server has its first user; true if absent. */
  isSetUp?: boolean
  settings?: Record<string, string>
}

export async function startLoginServer(
  t: Pick<TestContext, 'after'>,
  { accounts, sites, timeoutMs, baseUrl = BASE_URL, isSetUp = true, settings }: Options,
): Promise<LoginServer> {
  const log: string[] = []
  const stops: (() => Promise<void>)[] = []
  const core = await openTestCore(
    { after: (stop?: unknown) => void stops.push(stop as () => Promise<void>) },
    {
      settings: {
        PILLARBOX_HTTP__LISTEN: '127.0.0.1:0',
        PILLARBOX_BASE_URL: baseUrl,
        PILLARBOX_LIMITS__MIN_FREE_BYTES: '0',
        ...settings,
      },
      configure: (config) => ({ ...config, accounts: { ...config.accounts, ...accounts } }),
    },
  )
  core.clock.now = Date.now()
  const first = isSetUp ? await addUser(core) : { id: '' }
  const identityProviders = createIdentityProviders(core, {
    ...(sites && { sites }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })
  const lines = createLog('info', { write: (line) => void log.push(line) })
  const used: TestCore = { ...core, identityProviders, log: lines }
  const http = await startHttp({ core: used, requestLog: { record: () => undefined } })
  t.after(async () => {
    identityProviders.stop()
    await http.stop(0)
    for (const stop of stops) await stop()
  })
  const { read } = core.store
  return {
    core: used,
    url: http.url,
    log,
    browser: () => createBrowser(baseUrl, http.url),
    people: async () => ({
      users: await read.select().from(users).where(ne(users.id, first.id)),
      identities: await read.select().from(identities),
      sessions: await read.select().from(sessions),
    }),
  }
}
