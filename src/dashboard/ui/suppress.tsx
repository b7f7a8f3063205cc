/** Suppresses an address: the dialog says what will happen, and whether it failed. */
import { type Answer, call } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { projectWith } from '../api/session.ts'
import { t } from '../text/text.ts'
import { Ask } from './ask.tsx'
import { useAction } from './use-action.ts'
import { whyNot } from './why-not.ts'

type SuppressProps = {
  /** The id of the project that will not write to the address. */
  project: string
  address: string
  onClose(): void
  onDone(answer: Answer<'POST /suppressions'>): void
}

export function Suppress({ project, address, onClose, onDone }: SuppressProps) {
  const action = useAction()
  return (
    <Ask
      {...{ action, onClose }}
      title={t('action.suppress.title', { to: address })}
      text={t('action.suppress.text')}
      label={t('action.suppress.do')}
      obstacle={whyNot(projectWith(project))}
      write={async () => {
        const body = { email: address, reason: 'MANUAL' as const }
        onDone(await call('POST /suppressions', { project, body }))
        void queryClient.invalidateQueries({ queryKey: ['GET /suppressions'] })
      }}
    />
  )
}
