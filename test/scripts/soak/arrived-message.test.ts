import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readArrived, readEmailId } from '../../../scripts/soak/world/arrived-message.ts'
import { createReturnPathLocalPart } from '../../../src/formats/signed-tokens.ts'

const ID = '01a20692-8ac5-7368-b185-e4ffb11f79c0'

describe('a message at a receiver of the soak', () => {
  it('has the id of its email in its return path', () => {
    const localPart = createReturnPathLocalPart(Buffer.alloc(32, 1), ID)
    assert.equal(readEmailId(`${localPart}@bounce.example.test`), ID)
    assert.equal(readEmailId('shop@example.test'), '')
    assert.equal(readEmailId('b.abc@bounce.example.test'), '')
  })

  it('shows its number, its Message-ID and its links, also across soft line breaks', () => {
    const { number, messageId, links } = readArrived(
      [
        'Subject: Soak 42',
        `Message-ID: <${ID}@example.test>`,
        '',
        '<a href=3D"http://127.0.0.1:1/t/c/abc=',
        'def">x</a> <a href=3D"http://127.0.0.1:1/unsubscribe/xyz?e=3D1">y</a>',
      ].join('\r\n'),
    )
    assert.deepEqual([number, messageId], [42, `<${ID}@example.test>`])
    assert.deepEqual(links, { click: 'abcdef', unsubscribe: 'xyz' })
  })

  it('has no number without a subject of the run', () => {
    assert.equal(readArrived('Subject: Welcome\r\n\r\n').number, null)
  })
})
