/**
 * A certificate that is followed: renewed files take effect without a restart. The files are looked
 * at again and again, since those who renew them swap symbolic links that a file watch would not
 * see. A pair that cannot be used (half written, of another key) is logged once and the one before
 * it stays, until the files change again.
 */
import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { TlsFiles } from '../config/config.ts'
import { describeError } from '../errors.ts'
import type { Log } from '../log.ts'

/** PEM. */
export type CertificatePair = { cert: Buffer; key: Buffer }

export type CertificateWatch = {
  /** As it was when the watch began. */
  initial: CertificatePair
  stop(): void
}

export type WatchOptions = TlsFiles & { log: Log; everyMs?: number }

const EVERY_MS = 10_000

/**
 * Calls `onChange` with each new pair that can be used.
 * @throws Error when the files cannot be read or do not belong together now
 */
export async function watchCertificate(
  { certFile, keyFile, log, everyMs = EVERY_MS }: WatchOptions,
  onChange: (pair: CertificatePair) => void,
): Promise<CertificateWatch> {
  const files = { certFile, keyFile }
  let seen = await fingerprint(files)
  const initial = readPair(files)
  let isLooking = false

  async function look(): Promise<void> {
    const found = await fingerprint(files)
    if (found === seen) return
    seen = found
    onChange(readPair(files))
    log.info({ certFile }, 'a renewed certificate is in use')
  }

  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    look()
      .catch((error: unknown) => {
        const reason = describeError(error)
        log.error({ certFile, error: reason }, 'a renewed certificate cannot be used')
      })
      .finally(() => {
        isLooking = false
      })
  }, everyMs).unref()
  return { initial, stop: () => clearInterval(timer) }
}

/** @throws Error unless both can be read and belong together */
function readPair({ certFile, keyFile }: TlsFiles): CertificatePair {
  const pair = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
  createSecureContext(pair)
  return pair
}

/** Another one whenever the files are; of a file that is not there, that it is not. */
async function fingerprint({ certFile, keyFile }: TlsFiles): Promise<string> {
  const marks = await Promise.all(
    [certFile, keyFile].map((file) =>
      stat(file, { bigint: true }).then(
        ({ ino, size, mtimeNs }) => `${ino} ${size} ${mtimeNs}`,
        (error: unknown) => describeError(error),
      ),
    ),
  )
  return marks.join(', ')
}
