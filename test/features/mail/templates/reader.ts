/** Parses expensive templates in this thread, at once; `read` has all of them. */
import { checkTemplate } from '../../../../src/formats/template/template.ts'
import type { Outbound } from '../../../../src/outbound/outbound.ts'

export function createReader() {
  const read: string[] = []
  const reader: Pick<Outbound, 'checkTemplate'> = {
    async checkTemplate(source) {
      read.push(source)
      return checkTemplate(source)
    },
  }
  return { read, outbound: reader as Outbound }
}
