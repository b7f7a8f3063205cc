/** A tracker for mail.example.test with known keys, so that tests can read its tokens. */
import { createSecretKey } from 'node:crypto'
import type { Tracker } from '../../src/formats/html/tracking.ts'

export const baseUrl = 'https://mail.example.test'

export function testTracker(): Tracker {
  return {
    baseUrl,
    openKey: createSecretKey(Buffer.alloc(32, 1)),
    clickKey: createSecretKey(Buffer.alloc(32, 2)),
  }
}
