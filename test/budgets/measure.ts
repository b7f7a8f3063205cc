/** Measures every operation in one process, one after another. */
import type { Measured } from './measured-app.ts'
import { operations } from './operations.ts'
import { startServer } from './server.ts'

export type Results = Map<string, { count: number; measured: Measured }>

/** `trace`: a file for what `strace` sees meanwhile. */
export async function measureAll(trace?: string): Promise<Results> {
  const server = await startServer(trace)
  const results: Results = new Map()
  try {
    for (const { name, count, prepare, run } of operations) {
      await run(server, 'warm')
      await prepare?.(server)
      await server.begin()
      await run(server, 'counted')
      results.set(name, { count, measured: await server.end() })
    }
  } finally {
    await server.close()
  }
  return results
}
