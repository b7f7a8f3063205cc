/** A server on an installation (`server.ts`) in this process, for where nobody kills it: that costs a third. */
import path from 'node:path'
import type { TestContext } from 'node:test'
import { type App, startApp } from '../../src/app.ts'
import { silentLog } from '../../src/base/log.ts'
import { loadConfig } from '../../src/config/load.ts'
import { createInlineThreads } from '../../src/store/read/thread.ts'
import type { Installation } from './server.ts'

export type ServingHere = { url: string; stop(): Promise<void> }

/** It ends with the test at the latest. */
export async function serveHere(
  t: Pick<TestContext, 'after'>,
  { folder }: Pick<Installation, 'folder'>,
): Promise<ServingHere> {
  const configPath = path.join(folder, 'pillarbox.toml')
  const config = loadConfig({ cwd: folder, configPath, env: {} })
  let app: App | undefined = await startApp(config, {
    log: silentLog(),
    createThread: createInlineThreads(),
  })
  const url = app.ready.http
  const stop = async () => {
    const running = app
    app = undefined
    await running?.stop()
  }
  t.after(stop)
  return { url, stop }
}
