import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type CheckedInput,
  faultOfInput,
  mapFaults,
} from '../../src/dashboard/logic/form-faults.ts'

const fault = (field: string, message = field) => ({ field, message })

describe('the faults of a 422', () => {
  it('belong to the input of their path, and the first one counts', () => {
    const { byName, rest } = mapFaults(
      [fault('email', 'a'), fault('email', 'b'), fault('password')],
      ['email', 'password'],
    )
    assert.deepEqual(byName, { email: fault('email', 'a'), password: fault('password') })
    assert.deepEqual(rest, [])
  })

  it('mark the input in a list that the path names', () => {
    const names = ['condition.groups.0.filters.0.unit', 'condition.groups.0.filters.1.unit']
    const { byName } = mapFaults([fault('condition.groups.0.filters.1.unit')], names)
    assert.deepEqual(Object.keys(byName), [names[1]])
  })

  it('belong to the nearest input above their path, or else to the first one below', () => {
    const names = ['data', 'data.address', 'relay.host', 'relay.port']
    const { byName, rest } = mapFaults([fault('data.address.city'), fault('relay')], names)
    assert.deepEqual(Object.keys(byName), ['data.address', 'relay.host'])
    assert.deepEqual(rest, [])
  })

  it('belong to no input whose name is only the beginning of a word', () => {
    const { byName, rest } = mapFaults([fault('dataset'), fault('')], ['data'])
    assert.deepEqual([byName, rest.length], [{}, 2])
  })
})

describe('the check of an input', () => {
  const fine = {
    valid: true,
    valueMissing: false,
    typeMismatch: false,
    patternMismatch: false,
    rangeUnderflow: false,
    rangeOverflow: false,
    tooLong: false,
    badInput: false,
  }
  const input = (change: Partial<CheckedInput>): CheckedInput => ({
    ...{ value: 'a', type: 'text', minLength: -1, validity: fine },
    ...change,
  })
  const broken = (kind: keyof typeof fine) => ({ ...fine, valid: false, [kind]: true })

  it('finds nothing in a valid input', () => {
    assert.equal(faultOfInput(input({})), undefined)
    assert.equal(faultOfInput(input({ value: '', minLength: 6 })), undefined)
  })

  it('names what is missing, mistyped, too long, or otherwise wrong', () => {
    const kinds = [
      input({ value: '', validity: broken('valueMissing') }),
      input({ type: 'email', validity: broken('typeMismatch') }),
      input({ type: 'url', validity: broken('typeMismatch') }),
      input({ validity: broken('tooLong') }),
      input({ validity: broken('patternMismatch') }),
    ].map((one) => faultOfInput(one)?.kind)
    assert.deepEqual(kinds, ['missing', 'email', 'url', 'long', 'other'])
  })

  it('counts the characters of a value that a password manager filled in', () => {
    assert.deepEqual(faultOfInput(input({ value: 'short', minLength: 6 })), {
      kind: 'short',
      count: 6,
    })
  })
})
