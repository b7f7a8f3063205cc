/** Checkpoints beside a reader that keeps the log, as a backup does. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openConnection } from '../../../src/store/connection.ts'
import { createThread } from '../../../src/store/read/thread.ts'
import { createLogUse, startCheckpoints } from '../../../src/store/write/checkpoints.ts'
import { PATIENCE_MS } from '../../patience.ts'
import { makeDatabaseFolder, recordingLog } from '../test-store.ts'

test('while a reader keeps the log, the writer is not made to wait again and again', async (t) => {
  const { path } = await makeDatabaseFolder(t)
  const connection = openConnection({ path, busyTimeoutMs: 5000 })
  connection.script('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; create table t (x)')
  const reader = openConnection({ path, isReadOnly: true, busyTimeoutMs: 5000 })
  reader.script('BEGIN')
  reader.value('select count(*) from t')()
  const thread = createThread({ path, nativeBinding: undefined })
  const requests: boolean[] = []
  const counting: typeof thread = {
    ...thread,
    ask(request) {
      if (request.kind === 'checkpoint') requests.push(request.mayWait)
      return thread.ask(request)
    },
  }
  const walBytes = () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const entries: unknown[][] = []
  const checkpoints = startCheckpoints(
    {
      ...{ thread: counting, walBytes, usedBytes: createLogUse(connection, walBytes) },
      ...{ areFilesLost: () => false, log: recordingLog(entries) },
    },
    { intervalMs: 5, smallBytes: 10_000, maxLogBytes: 20_000, maxKeptBytes: 20_000 },
  )
  t.after(async () => {
    await checkpoints.stop()
    reader.close()
    connection.close()
  })
  while (requests.length < 12) {
    connection.run('insert into t values (?)', [Buffer.alloc(20_000)], 'run')
    checkpoints.committed()
    await delay(5)
  }
  const waits = requests.filter((mayWait) => mayWait).length
  assert.ok(waits >= 1 && waits <= requests.length / 2, `${waits} of ${requests.length}`)
  reader.script('ROLLBACK')
  const giveUpAt = performance.now() + PATIENCE_MS
  while (walBytes() > 0) {
    assert.ok(performance.now() < giveUpAt, 'the log was never emptied')
    await delay(20)
  }
  assert.deepEqual(entries, [])
})
