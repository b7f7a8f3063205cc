/** The entry point of the thread that migrates a large database: `long-migration.ts`. */
import { parentPort, workerData } from 'node:worker_threads'
import { openConnection } from './connection.ts'
import type { MigrateThreadMessage, MigrateThreadSettings } from './long-migration.ts'
import { migrate, readMigrations } from './migrate.ts'

const BUSY_TIMEOUT_MS = 5_000

run(workerData as MigrateThreadSettings)

function run({ path, nativeBinding, migrationsDir }: MigrateThreadSettings): void {
  const post = (message: MigrateThreadMessage) => parentPort?.postMessage(message)
  const connection = openConnection({ path, nativeBinding, busyTimeoutMs: BUSY_TIMEOUT_MS })
  try {
    connection.script('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    connection.script('PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536')
    migrate(connection, readMigrations(migrationsDir), {
      onBegin: ({ number }) => post({ number }),
    })
  } catch (error) {
    post({ failure: error instanceof Error ? error.message : String(error) })
  } finally {
    connection.close()
  }
}
