/**
 * What this machine can sign: RSA-2048 signatures a second of all its cores at once. No server that
 * signs each message delivers faster, so the share of this limit says what the rest of it costs.
 */
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

const SECONDS = 3
/** About the size of what a DKIM signature covers: the signed header fields. */
const SIGNED_BYTES = 1_000

type Task = { key: string; seconds: number }

/** Nothing else should run meanwhile. */
export async function measureSigningLimit(): Promise<number> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const threads = Array.from({ length: availableParallelism() }, () =>
    runThread({ key, seconds: SECONDS }),
  )
  const rates = await Promise.all(threads)
  return rates.reduce((sum, rate) => sum + rate, 0)
}

/** "41%": the share of the limit that a rate of single signatures reaches. */
export function showShare(perSecond: number, limit: number): string {
  const share = (100 * perSecond) / limit
  return Number.isNaN(share) ? '-' : `${share.toFixed(0)}%`
}

function runThread(task: Task): Promise<number> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: task })
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

function measureThread({ key, seconds }: Task): number {
  const headers = Buffer.alloc(SIGNED_BYTES, 'x')
  const parsed = createPrivateKey(key)
  const startedAt = performance.now()
  let count = 0
  while (performance.now() - startedAt < seconds * 1_000) {
    sign('sha256', headers, parsed)
    count += 1
  }
  return count / ((performance.now() - startedAt) / 1_000)
}

if (!isMainThread) parentPort?.postMessage(measureThread(workerData as Task))
