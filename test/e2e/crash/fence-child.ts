/**
 * A process that sets a fence and kills itself with -9 at a step of it. Arguments: who sets it (`command`, as
 * `pillarbox fence` does, or `start`, as a server does that begins), the step, the
 * data folder, and the secret unless it is in there:
 *
 *   inside      the transaction of the fence has done all that it does, and is not committed
 *   committed   it is on disk
 *   last        all writes are done, and `<data_dir>/generation` is about to be replaced
 */
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'

const [who, step, dataDir = '', secret] = process.argv.slice(2)
const die = () => process.kill(process.pid, 'SIGKILL')
let hasFence = false

// Before the code under test takes the function.
const { rename } = fs
fs.rename = async (from, to) => {
  if (step === 'last' && hasFence && path.basename(String(to)) === 'generation') die()
  await rename(from, to)
}
syncBuiltinESMExports()

const { nativeBindingPath } = await import('../../../src/config/addon.ts')
const { loadConfig } = await import('../../../src/config/load.ts')
const { openCore } = await import('../../../src/core/open-core.ts')
const { fenceDatabase } = await import('../../../src/features/operation/recovery/fence-database.ts')
const { startGenerationWatch } = await import(
  '../../../src/features/operation/recovery/notice-older.ts'
)
const { silentLog } = await import('../../../src/base/log.ts')
const { isServed } = await import('../../../src/store/files/is-served.ts')

const config = loadConfig({
  cwd: dataDir,
  systemFile: path.join(dataDir, 'none'),
  env: {
    PILLARBOX_DATA_DIR: dataDir,
    ...(secret === undefined ? {} : { PILLARBOX_SECRET: secret }),
    PILLARBOX_DELIVERY__MODE: 'direct',
    PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.test',
  },
})
const core = await openCore(config, { log: silentLog() })
const { write } = core.store
core.store.write = async (act, options) => {
  const isFirst = !hasFence
  hasFence = true
  const result = await write(async (tx) => {
    const done = await act(tx)
    if (isFirst && step === 'inside') die()
    return done
  }, options)
  if (isFirst && step === 'committed') die()
  return result
}
if (who === 'start') await startGenerationWatch(core)
else {
  const isAlone = !isServed(config.database.file, nativeBindingPath(dataDir))
  await fenceDatabase(core, { cause: 'command', isAlone })
}
throw new Error('the step never came')
