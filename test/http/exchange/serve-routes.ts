/** Routes of a test on a server of their own, which counts the memory of answers in `answers`. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createBodyAllowance } from '../../../src/http/body/body-allowance.ts'
import type { AnswerAllowance } from '../../../src/http/exchange/answer-allowance.ts'
import { createCompressor } from '../../../src/http/exchange/compression/compress.ts'
import { createTraffic } from '../../../src/http/exchange/traffic.ts'
import { mount } from '../../../src/http/mount.ts'
import type { Route } from '../../../src/http/route.ts'
import { createAddressList } from '../../../src/http/server/client-address.ts'
import type { TestCore } from '../../core.ts'

export async function serveRoutes(
  { core, answers }: { core: TestCore; answers: AnswerAllowance },
  routes: Route[],
): Promise<Server> {
  const window = { take: () => ({ isAllowed: true }) as never, size: () => 0 }
  const deps = {
    core,
    proxies: createAddressList([]),
    monitors: createAddressList([]),
    findOtherHost: () => undefined,
    limiters: { keys: window, sessions: window },
    traffic: createTraffic(),
    version: '0.0.0',
    bodies: createBodyAllowance({ totalBytes: 1e8, addressBytes: 1e8, keyBytes: 1e8 }),
    answers,
    compressor: createCompressor(),
    requestLog: { record: () => undefined },
    stopping: new AbortController().signal,
  }
  const server = createServer(mount(deps, routes))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
