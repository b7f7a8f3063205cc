import assert from 'node:assert/strict'
import { it } from 'node:test'
import { deviceOf } from '../../src/dashboard/logic/device.ts'

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'

it('a session shows browser and system', () => {
  const shown = [
    [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/156.0.0.0 Safari/537.36`, 'Chrome, Linux'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox, Linux'],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/156.0 Safari/537.36 Edg/156.0`,
      'Edge, Windows',
    ],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) ${WEBKIT} Version/19.0 Mobile/15E148 Safari/604.1`,
      'Safari, iPhone',
    ],
    ['curl/8.5.0', 'curl'],
  ] as const
  for (const [text, device] of shown) assert.equal(deviceOf(text), device)
})

it('a text that names no browser is shown by its beginning, and none as nothing', () => {
  assert.equal(deviceOf(`x${'y'.repeat(300)}`)?.length, 60)
  assert.equal(deviceOf(' '), undefined)
  assert.equal(deviceOf(null), undefined)
})
