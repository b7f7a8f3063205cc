import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newEffort } from '../../../../src/config/layers/closest.ts'
import { suggestForSlip } from '../../../../src/features/mail/templates/suggest-variable.ts'

const KEYS = ['name', 'plan', 'tags', 'price', 'order1', 'firstName', 'shippingAddress', 'address2']

function meant(name: string, keys: readonly string[] = KEYS): string | undefined {
  return /\{\{(.*)\}\}/.exec(suggestForSlip(name, keys, newEffort()) ?? '')?.[1]
}

test('what is clearly a slip names the key that is meant', () => {
  for (const [name, key] of [
    ['nmae', 'name'],
    ['naem', 'name'],
    ['plna', 'plan'],
    ['tasg', 'tags'],
    ['NAME', 'name'],
    ['plann', 'plan'],
    ['prize', 'price'],
    ['pricce', 'price'],
    ['fristName', 'firstName'],
    ['firstname', 'firstName'],
    ['shipingAdress', 'shippingAddress'],
    ['adress2', 'address2'],
    ['emial', 'email'],
  ] as const)
    assert.equal(meant(name), key, name)
})

test('another word, a short word with another letter, and a name with other digits are no slips', () => {
  for (const name of [
    ...['game', 'fame', 'same', 'tagz', 'mail', 'nam', 'mane', 'amen', 'price2', 'order3', 'order'],
    ...['order10', 'address', 'address3', 'address22', 'n4me', 'pr1ce', 'code', 'city'],
  ])
    assert.equal(meant(name), undefined, name)
  assert.equal(meant('order12', ['order21']), undefined)
})

test('a search for swapped letters is charged to the effort of the request', () => {
  const letters = [...'bcdfghklmnpqrstvwxyz']
  const keys = letters.flatMap((one) => letters.map((other) => `${one}${other}a`))
  const effort = newEffort()
  const before = effort.pairs
  assert.equal(suggestForSlip('uuu', keys, effort), undefined)
  // A pair of letters for each key and each of its letters: for its changes, and for swapped letters.
  assert.ok(before - effort.pairs >= 2 * 4 * keys.length, `${before - effort.pairs}`)
})

test('without any effort left no key is looked at', () => {
  let looks = 0
  const keys = new Proxy(['name', 'nmaex'], {
    get: (target, property, receiver) => {
      looks += 1
      return Reflect.get(target, property, receiver)
    },
  })
  const effort = newEffort()
  assert.match(suggestForSlip('nmae', keys, effort) ?? '', /name/)
  assert.ok(looks > 0)
  looks = 0
  assert.equal(suggestForSlip('nmae', keys, { pairs: 0 }), undefined)
  assert.equal(looks, 0)
})
