/** What answers take that their clients have not taken yet. */
import type { Gauge } from '../../features/operation/metrics/gauge.ts'
import type { AnswerAllowance } from '../exchange/answer-allowance.ts'

export function answerGauges(answers: Pick<AnswerAllowance, 'load'>): Gauge[] {
  return [
    {
      name: 'pillarbox_http_answers_bytes',
      help: 'Memory of the large answers that are made or sent',
      read: () => [{ value: answers.load().bytes }],
    },
    {
      name: 'pillarbox_http_answers_waiting',
      help: 'Answers that wait for memory',
      read: () => [{ value: answers.load().waiting }],
    },
  ]
}
