/** Documented texts of mail systems, in complete reports. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readReport } from '../../../src/formats/report/read-report.ts'
import { exim, fieldsOnly, postfix } from './build-report.ts'
import { catalogue } from './catalogue.ts'

const commands: Record<string, string> = {
  rcpt: 'RCPT TO',
  data: 'DATA',
  message: 'end of DATA',
  mail: 'MAIL FROM',
  ehlo: 'EHLO',
}
const HARD_REASONS = new Set(['userunknown', 'hostunknown', 'hasmoved'])
/** Texts for a host that accepts no mail, the only case in which `rejected` is hard. */
const NO_MAIL = /null ?mx|^521|no smtp service|no mx|5\.3\.2/i

function write(layout: string, said: string): string {
  const status = /\b[245]\.\d+\.\d+\b/.exec(said)?.[0]
  if (layout === 'exim') return exim(said)
  if (layout !== 'fields') {
    return postfix({ said, status: status ?? '5.0.0', command: commands[layout] ?? layout })
  }
  return fieldsOnly({ said, status: status ?? (said.startsWith('4') ? '4.0.0' : '5.0.0') })
}

for (const section of catalogue.split(/^# /m).slice(1)) {
  const [title = '', ...lines] = section.trim().split('\n')
  describe(title, () => {
    for (const line of lines) {
      it(`is classified: ${line}`, () => {
        const [, layout = '', reason = '', said = ''] = /^(\w+) (\w+): (.*)$/.exec(line) ?? []
        const [one] = readReport(Buffer.from(write(layout, said))).recipients
        assert.equal(one?.reason, reason)
        const isRefusal = reason === 'rejected' && NO_MAIL.test(said) && !/sender/i.test(said)
        assert.equal(one.class === 'hard', HARD_REASONS.has(reason) || isRefusal)
      })
    }
  })
}
