/**
 * Uploads images to the project of argv until it is killed, eight at a time, and prints the key of each
 * once it is acknowledged.
 */
import { randomBytes } from 'node:crypto'
import { silentLog } from '../../../../src/base/log.ts'
import { loadConfig } from '../../../../src/config/load.ts'
import { openCore } from '../../../../src/core/open-core.ts'
import { storeImage } from '../../../../src/features/tenancy/uploads/store-image.ts'
import { printLine } from '../../../print-line.ts'
import { pngChunk } from './images/metadata.ts'
import { sample } from './images/samples.ts'

const [, , dataDir = '', projectId = '', secret = ''] = process.argv
const env = { PILLARBOX_DATA_DIR: dataDir, PILLARBOX_SECRET: secret }
const config = loadConfig({ cwd: dataDir, systemFile: `${dataDir}/none`, env })
const core = await openCore(config, { log: silentLog() })
await Promise.all(Array.from({ length: 8 }, run))

async function run(): Promise<void> {
  for (;;) {
    const bytes = Buffer.from(sample('png'))
    const noise = pngChunk('cICP', randomBytes(4))
    const image = Buffer.concat([bytes.subarray(0, 33), noise, bytes.subarray(33)])
    const { key } = await storeImage(core, { projectId, filename: 'a.png', bytes: image })
    printLine(key)
  }
}
