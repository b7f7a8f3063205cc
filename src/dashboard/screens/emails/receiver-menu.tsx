/** In the chip of the receiver: a provider, or the domain of the address. */
import { useRef } from 'preact/hooks'
import { useCall } from '../../api/queries.ts'
import { parts as partTexts } from '../../text/en/parts.ts'
import { addTexts, t } from '../../text/text.ts'
import Menu from '../../ui/menu.tsx'
import { Loading } from '../../ui/state.tsx'

addTexts(partTexts)

type ReceiverMenuProps = {
  receiver: string
  domain: string
  onReceiver(name: string): void
  onDomain(domain: string): void
}

export default function ReceiverMenu(props: ReceiverMenuProps) {
  const { receiver, domain, onReceiver, onDomain } = props
  return (
    <>
      <Receivers chosen={receiver} onChoose={onReceiver} />
      <DomainForm domain={domain} onDone={onDomain} />
    </>
  )
}

/** The providers to which mail of the last 30 days went. Without them, the domain can still be written. */
function Receivers({ chosen, onChoose }: { chosen: string; onChoose(name: string): void }) {
  const { data, error } = useCall('GET /analytics/deliverability')
  if (error !== null) return null
  if (data === undefined) return <Loading rows={2} />
  return (
    <Menu
      label={t('emails.receiver')}
      choices={data.providers.map(({ provider }) => ({ value: provider, label: provider }))}
      chosen={[chosen]}
      onChoose={onChoose}
    />
  )
}

function DomainForm({ domain, onDone }: { domain: string; onDone(domain: string): void }) {
  const field = useRef<HTMLInputElement>(null)
  const read = () => (field.current?.value ?? '').trim().replace(/^.*@/, '').toLowerCase()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onDone(read())
      }}
    >
      <label>
        <span class="small">{t('emails.domain')}</span>
        <input
          ref={field}
          class="input"
          defaultValue={domain}
          placeholder="example.com"
          pattern="(.*@)?[^\s@.]+(\.[^\s@.]+)+"
        />
      </label>
      <button class="btn" type="submit">
        {t('filter.apply')}
      </button>
    </form>
  )
}
