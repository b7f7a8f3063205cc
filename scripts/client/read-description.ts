/** The description of the API (`/openapi.json`) without a server: the routes need a core, and it gets a folder of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { silentLog } from '../../src/base/log.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Core } from '../../src/core/core.ts'
import { type OpenCore, openCore } from '../../src/core/open-core.ts'
import { describeApi } from '../../src/http/openapi.ts'
import type { RouteDeps } from '../../src/http/route.ts'
import { createRoutes } from '../../src/http/route-table.ts'
import type { Schema } from './write-shape.ts'

type Content = Readonly<Record<string, { schema: Schema }>>

export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  schema: Schema
}

/** An operation as the description has it, as far as types need it. */
export type DescribedOperation = {
  summary: string
  parameters?: readonly Parameter[]
  requestBody?: { content: Content }
  responses: Readonly<Record<string, { content?: Content }>>
}

export type Description = {
  paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  components: { schemas: Readonly<Record<string, Schema>> }
}

/** The parts of a server that routes use only when they are called. */
const UNUSED = {
  traffic: {} as RouteDeps['traffic'],
  answers: {} as RouteDeps['answers'],
  proxies: { has: () => false } as RouteDeps['proxies'],
  layout: (() => '') as unknown as RouteDeps['layout'],
}

/** What a core lacks that serves nothing. */
const OF_SERVERS = {} as Omit<Core, keyof OpenCore>

/** Hidden routes are left out. */
export async function readDescription(): Promise<Description> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pillarbox-client-'))
  try {
    const env = { PILLARBOX_DATA_DIR: folder }
    const config = loadConfig({ cwd: folder, systemFile: path.join(folder, 'none'), env })
    const core = await openCore(config, { log: silentLog() })
    try {
      const routes = createRoutes({ core: { ...core, ...OF_SERVERS }, ...UNUSED })
      return JSON.parse(await describeApi(routes, { url: config.baseUrl, version: '0' }))
    } finally {
      await core.close()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
