/**
 * The texts of the pages for contacts in each language. `{project}` and `{email}` stand for the name of
 * the project and the contact's address. Marketing mail is called "newsletters and offers": messages
 * that people requested, such as receipts, are still sent, and no page may claim otherwise.
 */
import type { Language } from '../../../formats/languages.ts'

export type ContactTexts = {
  unsubscribe: { title: string; ask: string; button: string }
  unsubscribed: { title: string; text: string; note: string; again: string }
  subscribe: { title: string; ask: string; button: string }
  subscribed: { title: string; text: string }
  manage: { title: string; link: string; what: string; on: string; off: string }
  /** Shown when the address is on the suppression list, whether subscribed or not. */
  suppressed: string
  notFound: { title: string; text: string }
  /** Under the title of `notFound`: the link was right, and what it stood for was deleted. */
  gone: string
  failed: { title: string; text: string }
}

export const CONTACT_TRANSLATIONS: Readonly<Record<Language, ContactTexts>> = {
  en: {
    unsubscribe: {
      title: 'Unsubscribe',
      ask: 'Should {project} stop sending newsletters and offers to {email}?',
      button: 'Unsubscribe',
    },
    unsubscribed: {
      title: 'You are unsubscribed',
      text: '{project} no longer sends newsletters and offers to {email}.',
      note: 'Messages about something you asked for, such as an order or a new password, may still arrive.',
      again: 'Subscribe again',
    },
    subscribe: {
      title: 'Subscribe',
      ask: 'Should {project} send newsletters and offers to {email}?',
      button: 'Subscribe',
    },
    subscribed: {
      title: 'You are subscribed',
      text: '{project} may send newsletters and offers to {email}. You can unsubscribe at any time.',
    },
    manage: {
      title: 'Email preferences',
      link: 'Manage email preferences',
      what: 'Newsletters and offers from {project}',
      on: 'Subscribed',
      off: 'Not subscribed',
    },
    suppressed:
      'At the moment {project} cannot send email to this address, for example because earlier messages could not be delivered or were reported as spam. Please contact the sender to change that.',
    notFound: {
      title: 'This link does not work',
      text: 'It may be incomplete or out of date. Please try the link in the latest email you received.',
    },
    gone: 'The data that it belonged to was deleted, so it can no longer change anything. Please reply to the email that it was in and ask its sender to stop writing to you.',
    failed: {
      title: 'Something went wrong',
      text: 'The fault is on our side. Please try again in a moment.',
    },
  },
  nl: {
    unsubscribe: {
      title: 'Uitschrijven',
      ask: 'Wil je geen nieuwsbrieven en aanbiedingen van {project} meer ontvangen op {email}?',
      button: 'Uitschrijven',
    },
    unsubscribed: {
      title: 'Je bent uitgeschreven',
      text: '{project} stuurt geen nieuwsbrieven en aanbiedingen meer naar {email}.',
      note: 'Berichten over iets waar je zelf om hebt gevraagd, zoals een bestelling of een nieuw wachtwoord, kunnen nog wel komen.',
      again: 'Opnieuw inschrijven',
    },
    subscribe: {
      title: 'Inschrijven',
      ask: 'Wil je nieuwsbrieven en aanbiedingen van {project} ontvangen op {email}?',
      button: 'Inschrijven',
    },
    subscribed: {
      title: 'Je bent ingeschreven',
      text: '{project} mag nieuwsbrieven en aanbiedingen sturen naar {email}. Je kunt je op elk moment weer uitschrijven.',
    },
    manage: {
      title: 'E-mailvoorkeuren',
      link: 'E-mailvoorkeuren beheren',
      what: 'Nieuwsbrieven en aanbiedingen van {project}',
      on: 'Ingeschreven',
      off: 'Niet ingeschreven',
    },
    suppressed:
      'Op dit moment kan {project} geen e-mail naar dit adres sturen, bijvoorbeeld omdat eerdere berichten niet konden worden bezorgd of als spam zijn gemeld. Neem contact op met de afzender om dat te veranderen.',
    notFound: {
      title: 'Deze link werkt niet',
      text: 'De link is misschien onvolledig of verouderd. Probeer de link in de laatste e-mail die je hebt ontvangen.',
    },
    gone: 'De gegevens waar de link bij hoorde zijn verwijderd, dus hij kan niets meer veranderen. Beantwoord de e-mail waarin hij stond en vraag de afzender om je niet meer te schrijven.',
    failed: {
      title: 'Er ging iets mis',
      text: 'De fout ligt bij ons. Probeer het over een ogenblik opnieuw.',
    },
  },
  fr: {
    unsubscribe: {
      title: 'Se désinscrire',
      ask: 'Souhaitez-vous ne plus recevoir les newsletters et les offres de {project} à l’adresse {email} ?',
      button: 'Me désinscrire',
    },
    unsubscribed: {
      title: 'Désinscription effectuée',
      text: '{project} n’envoie plus de newsletters ni d’offres à l’adresse {email}.',
      note: 'Les messages liés à une demande de votre part, comme une commande ou un nouveau mot de passe, peuvent encore arriver.',
      again: 'Se réinscrire',
    },
    subscribe: {
      title: 'S’inscrire',
      ask: 'Souhaitez-vous recevoir les newsletters et les offres de {project} à l’adresse {email} ?',
      button: 'M’inscrire',
    },
    subscribed: {
      title: 'Inscription effectuée',
      text: '{project} peut envoyer des newsletters et des offres à l’adresse {email}. Vous pouvez vous désinscrire à tout moment.',
    },
    manage: {
      title: 'Préférences d’e-mail',
      link: 'Gérer les préférences d’e-mail',
      what: 'Newsletters et offres de {project}',
      on: 'Inscription active',
      off: 'Aucune inscription',
    },
    suppressed:
      'Pour le moment, {project} ne peut pas envoyer d’e-mails à cette adresse, par exemple parce que des messages précédents n’ont pas pu être remis ou ont été signalés comme indésirables. Pour y remédier, veuillez contacter l’expéditeur.',
    notFound: {
      title: 'Ce lien ne fonctionne pas',
      text: 'Il est peut-être incomplet ou périmé. Essayez le lien du dernier e-mail que vous avez reçu.',
    },
    gone: 'Les données auxquelles il se rapportait ont été supprimées : il ne peut plus rien changer. Répondez à l’e-mail qui le contenait et demandez à l’expéditeur de ne plus vous écrire.',
    failed: {
      title: 'Une erreur s’est produite',
      text: 'Le problème vient de chez nous. Veuillez réessayer dans un instant.',
    },
  },
  hi: {
    unsubscribe: {
      title: 'सदस्यता छोड़ें',
      ask: 'क्या {project} को {email} पर न्यूज़लेटर और ऑफ़र भेजना बंद कर देना चाहिए?',
      button: 'सदस्यता छोड़ें',
    },
    unsubscribed: {
      title: 'आपकी सदस्यता समाप्त हो गई है',
      text: 'अब {project} की ओर से {email} पर न्यूज़लेटर और ऑफ़र नहीं भेजे जाते।',
      note: 'आपके अनुरोध से जुड़े संदेश, जैसे ऑर्डर या नए पासवर्ड की जानकारी, अब भी आ सकते हैं।',
      again: 'फिर से सदस्यता लें',
    },
    subscribe: {
      title: 'सदस्यता लें',
      ask: 'क्या {project} को {email} पर न्यूज़लेटर और ऑफ़र भेजने चाहिए?',
      button: 'सदस्यता लें',
    },
    subscribed: {
      title: 'आपकी सदस्यता चालू है',
      text: '{project} की ओर से {email} पर न्यूज़लेटर और ऑफ़र भेजे जा सकते हैं। सदस्यता कभी भी छोड़ी जा सकती है।',
    },
    manage: {
      title: 'ईमेल प्राथमिकताएँ',
      link: 'ईमेल प्राथमिकताएँ बदलें',
      what: '{project} के न्यूज़लेटर और ऑफ़र',
      on: 'सदस्यता चालू है',
      off: 'सदस्यता नहीं है',
    },
    suppressed:
      'फ़िलहाल {project} की ओर से इस पते पर ईमेल नहीं भेजे जा सकते, उदाहरण के लिए इसलिए कि पहले के संदेश पहुँच नहीं पाए या उन्हें स्पैम बताया गया। इसे बदलने के लिए कृपया भेजने वाले से संपर्क करें।',
    notFound: {
      title: 'यह लिंक काम नहीं करता',
      text: 'हो सकता है कि यह अधूरा या पुराना हो। कृपया अपने सबसे नए ईमेल में दिया गया लिंक आज़माएँ।',
    },
    gone: 'जिन आँकड़ों से यह जुड़ा था, वे हटा दिए गए हैं, इसलिए इससे अब कुछ नहीं बदल सकता। कृपया उस ईमेल का उत्तर दें जिसमें यह था, और भेजने वाले से कहें कि वह आपको लिखना बंद करे।',
    failed: {
      title: 'कुछ गड़बड़ हो गई',
      text: 'गलती हमारी ओर से है। कृपया थोड़ी देर में फिर कोशिश करें।',
    },
  },
  de: {
    unsubscribe: {
      title: 'Abmelden',
      ask: 'Möchten Sie keine Newsletter und Angebote von {project} an {email} mehr erhalten?',
      button: 'Abmelden',
    },
    unsubscribed: {
      title: 'Sie sind abgemeldet',
      text: '{project} sendet keine Newsletter und Angebote mehr an {email}.',
      note: 'Nachrichten, um die Sie selbst gebeten haben, etwa zu einer Bestellung oder einem neuen Passwort, können weiterhin ankommen.',
      again: 'Erneut abonnieren',
    },
    subscribe: {
      title: 'Abonnieren',
      ask: 'Möchten Sie Newsletter und Angebote von {project} an {email} erhalten?',
      button: 'Abonnieren',
    },
    subscribed: {
      title: 'Ihr Abonnement ist aktiv',
      text: '{project} darf Newsletter und Angebote an {email} senden. Sie können sich jederzeit wieder abmelden.',
    },
    manage: {
      title: 'E-Mail-Einstellungen',
      link: 'E-Mail-Einstellungen verwalten',
      what: 'Newsletter und Angebote von {project}',
      on: 'Abonniert',
      off: 'Nicht abonniert',
    },
    suppressed:
      'Zurzeit kann {project} keine E-Mails an diese Adresse senden, zum Beispiel weil frühere Nachrichten nicht zugestellt werden konnten oder als Spam gemeldet wurden. Bitte wenden Sie sich an den Absender, um das zu ändern.',
    notFound: {
      title: 'Dieser Link funktioniert nicht',
      text: 'Er ist vielleicht unvollständig oder veraltet. Bitte versuchen Sie es mit dem Link in der letzten E-Mail, die Sie erhalten haben.',
    },
    gone: 'Die Daten, zu denen er gehörte, wurden gelöscht; er kann deshalb nichts mehr ändern. Bitte antworten Sie auf die E-Mail, in der er stand, und bitten Sie den Absender, Ihnen nicht mehr zu schreiben.',
    failed: {
      title: 'Etwas ist schiefgelaufen',
      text: 'Der Fehler liegt bei uns. Bitte versuchen Sie es gleich noch einmal.',
    },
  },
  pt: {
    unsubscribe: {
      title: 'Cancelar a inscrição',
      ask: 'Deseja deixar de receber as newsletters e ofertas de {project} em {email}?',
      button: 'Cancelar a inscrição',
    },
    unsubscribed: {
      title: 'Inscrição cancelada',
      text: '{project} não envia mais newsletters nem ofertas para {email}.',
      note: 'Ainda podem chegar mensagens solicitadas, por exemplo, sobre um pedido ou uma nova senha.',
      again: 'Inscrever-se novamente',
    },
    subscribe: {
      title: 'Inscrever-se',
      ask: 'Deseja receber as newsletters e ofertas de {project} em {email}?',
      button: 'Inscrever-se',
    },
    subscribed: {
      title: 'Inscrição ativa',
      text: '{project} pode enviar newsletters e ofertas para {email}. É possível cancelar a inscrição a qualquer momento.',
    },
    manage: {
      title: 'Preferências de e-mail',
      link: 'Alterar as preferências de e-mail',
      what: 'Newsletters e ofertas de {project}',
      on: 'Inscrição ativa',
      off: 'Sem inscrição',
    },
    suppressed:
      'No momento, {project} não pode enviar e-mails para este endereço, por exemplo, porque mensagens anteriores não puderam ser entregues ou foram denunciadas como spam. Para mudar isso, entre em contato com o remetente.',
    notFound: {
      title: 'Este link não funciona',
      text: 'Pode estar incompleto ou desatualizado. Tente usar o link do último e-mail recebido.',
    },
    gone: 'Os dados a que pertencia foram apagados e, por isso, já não pode alterar nada. Responda ao e-mail em que estava e peça ao remetente que deixe de lhe escrever.',
    failed: {
      title: 'Algo deu errado',
      text: 'O erro é nosso. Tente novamente dentro de instantes.',
    },
  },
  bg: {
    unsubscribe: {
      title: 'Отписване',
      ask: 'Да спре ли {project} да изпраща бюлетини и оферти на {email}?',
      button: 'Отписване',
    },
    unsubscribed: {
      title: 'Вие сте отписани',
      text: '{project} вече не изпраща бюлетини и оферти на {email}.',
      note: 'Все още може да получавате съобщения, които сами сте поискали, например за поръчка или нова парола.',
      again: 'Абониране отново',
    },
    subscribe: {
      title: 'Абониране',
      ask: 'Искате ли {project} да изпраща бюлетини и оферти на {email}?',
      button: 'Абониране',
    },
    subscribed: {
      title: 'Вие сте абонирани',
      text: '{project} може да изпраща бюлетини и оферти на {email}. Можете да се отпишете по всяко време.',
    },
    manage: {
      title: 'Предпочитания за имейли',
      link: 'Управление на предпочитанията за имейли',
      what: 'Бюлетини и оферти от {project}',
      on: 'Абонирани сте',
      off: 'Не сте абонирани',
    },
    suppressed:
      'В момента {project} не може да изпраща имейли на този адрес, например защото предишни съобщения не са били доставени или са били докладвани като спам. Свържете се с подателя, за да промените това.',
    notFound: {
      title: 'Тази връзка не работи',
      text: 'Възможно е да е непълна или остаряла. Опитайте с връзката от последния имейл, който сте получили.',
    },
    gone: 'Данните, към които принадлежеше, са изтрити, затова тя вече не може да промени нищо. Отговорете на имейла, в който беше, и помолете подателя да не ви пише повече.',
    failed: {
      title: 'Нещо се обърка',
      text: 'Грешката е при нас. Опитайте отново след малко.',
    },
  },
  cs: {
    unsubscribe: {
      title: 'Zrušit odběr',
      ask: 'Má {project} přestat posílat novinky a nabídky na adresu {email}?',
      button: 'Zrušit odběr',
    },
    unsubscribed: {
      title: 'Odběr je zrušen',
      text: '{project} už na adresu {email} neposílá novinky ani nabídky.',
      note: 'Zprávy, o které jste sami požádali, například k objednávce nebo novému heslu, mohou přicházet i nadále.',
      again: 'Znovu přihlásit odběr',
    },
    subscribe: {
      title: 'Přihlásit odběr',
      ask: 'Má {project} posílat novinky a nabídky na adresu {email}?',
      button: 'Přihlásit odběr',
    },
    subscribed: {
      title: 'Odběr je přihlášen',
      text: '{project} smí na adresu {email} posílat novinky a nabídky. Odběr můžete kdykoli zrušit.',
    },
    manage: {
      title: 'Nastavení e-mailů',
      link: 'Upravit nastavení e-mailů',
      what: 'Novinky a nabídky od {project}',
      on: 'Přihlášeno k odběru',
      off: 'Nepřihlášeno k odběru',
    },
    suppressed:
      'Na tuto adresu teď {project} nemůže posílat e-maily, například proto, že se dřívější zprávy nepodařilo doručit nebo byly označeny jako spam. Chcete-li to změnit, obraťte se na odesílatele.',
    notFound: {
      title: 'Tento odkaz nefunguje',
      text: 'Možná je neúplný nebo zastaralý. Zkuste prosím odkaz v posledním e-mailu, který jste dostali.',
    },
    gone: 'Údaje, ke kterým patřil, byly smazány, takže už nemůže nic změnit. Odpovězte prosím na e-mail, ve kterém byl, a požádejte odesílatele, aby vám už nepsal.',
    failed: {
      title: 'Něco se nepovedlo',
      text: 'Chyba je na naší straně. Zkuste to prosím za chvíli znovu.',
    },
  },
  pl: {
    unsubscribe: {
      title: 'Rezygnacja z subskrypcji',
      ask: 'Czy {project} ma przestać wysyłać newslettery i oferty na adres {email}?',
      button: 'Zrezygnuj z subskrypcji',
    },
    unsubscribed: {
      title: 'Subskrypcja anulowana',
      text: '{project} nie wysyła już newsletterów i ofert na adres {email}.',
      note: 'Wiadomości wysyłane na Twoją prośbę, na przykład dotyczące zamówienia lub nowego hasła, mogą nadal przychodzić.',
      again: 'Subskrybuj ponownie',
    },
    subscribe: {
      title: 'Subskrypcja',
      ask: 'Czy {project} ma wysyłać newslettery i oferty na adres {email}?',
      button: 'Subskrybuj',
    },
    subscribed: {
      title: 'Subskrypcja jest aktywna',
      text: '{project} może wysyłać newslettery i oferty na adres {email}. Z subskrypcji można zrezygnować w każdej chwili.',
    },
    manage: {
      title: 'Ustawienia e-maili',
      link: 'Zarządzaj ustawieniami e-maili',
      what: 'Newslettery i oferty od {project}',
      on: 'Subskrypcja aktywna',
      off: 'Brak subskrypcji',
    },
    suppressed:
      'Obecnie {project} nie może wysyłać e-maili na ten adres, na przykład dlatego, że wcześniejszych wiadomości nie udało się dostarczyć lub zgłoszono je jako spam. Aby to zmienić, prosimy o kontakt z nadawcą.',
    notFound: {
      title: 'Ten link nie działa',
      text: 'Może być niekompletny lub nieaktualny. Prosimy użyć linku z ostatniej otrzymanej wiadomości.',
    },
    gone: 'Dane, do których należał, zostały usunięte, więc nie może już niczego zmienić. Prosimy odpowiedzieć na wiadomość, w której się znajdował, i poprosić nadawcę, aby więcej nie pisał.',
    failed: {
      title: 'Coś poszło nie tak',
      text: 'Błąd leży po naszej stronie. Prosimy spróbować ponownie za chwilę.',
    },
  },
  es: {
    unsubscribe: {
      title: 'Cancelar la suscripción',
      ask: '¿Desea dejar de recibir los boletines y las ofertas de {project} en {email}?',
      button: 'Cancelar la suscripción',
    },
    unsubscribed: {
      title: 'Suscripción cancelada',
      text: '{project} ya no envía boletines ni ofertas a {email}.',
      note: 'Es posible que siga recibiendo mensajes que haya solicitado, por ejemplo, sobre un pedido o una contraseña nueva.',
      again: 'Volver a suscribirse',
    },
    subscribe: {
      title: 'Suscribirse',
      ask: '¿Desea recibir los boletines y las ofertas de {project} en {email}?',
      button: 'Suscribirse',
    },
    subscribed: {
      title: 'Suscripción activa',
      text: '{project} puede enviar boletines y ofertas a {email}. Puede cancelar la suscripción en cualquier momento.',
    },
    manage: {
      title: 'Preferencias de correo',
      link: 'Gestionar las preferencias de correo',
      what: 'Boletines y ofertas de {project}',
      on: 'Suscripción activa',
      off: 'Sin suscripción',
    },
    suppressed:
      'En este momento, {project} no puede enviar correos a esta dirección, por ejemplo, porque mensajes anteriores no se pudieron entregar o se marcaron como spam. Para cambiarlo, póngase en contacto con el remitente.',
    notFound: {
      title: 'Este enlace no funciona',
      text: 'Puede que esté incompleto o haya caducado. Pruebe con el enlace del último correo que haya recibido.',
    },
    gone: 'Los datos a los que pertenecía se han borrado, así que ya no puede cambiar nada. Responda al correo en el que estaba y pida al remitente que deje de escribirle.',
    failed: {
      title: 'Algo ha salido mal',
      text: 'El fallo es nuestro. Vuelva a intentarlo dentro de un momento.',
    },
  },
  it: {
    unsubscribe: {
      title: 'Annulla l’iscrizione',
      ask: 'Vuoi che {project} smetta di inviare newsletter e offerte a {email}?',
      button: 'Annulla l’iscrizione',
    },
    unsubscribed: {
      title: 'Iscrizione annullata',
      text: '{project} non invia più newsletter e offerte a {email}.',
      note: 'Potrebbero ancora arrivare messaggi che hai richiesto, ad esempio su un ordine o una nuova password.',
      again: 'Iscriviti di nuovo',
    },
    subscribe: {
      title: 'Iscriviti',
      ask: 'Vuoi che {project} invii newsletter e offerte a {email}?',
      button: 'Iscriviti',
    },
    subscribed: {
      title: 'L’iscrizione è attiva',
      text: '{project} può inviare newsletter e offerte a {email}. Puoi annullare l’iscrizione in qualsiasi momento.',
    },
    manage: {
      title: 'Preferenze e-mail',
      link: 'Gestisci le preferenze e-mail',
      what: 'Newsletter e offerte di {project}',
      on: 'Iscrizione attiva',
      off: 'Nessuna iscrizione',
    },
    suppressed:
      'Al momento {project} non può inviare e-mail a questo indirizzo, ad esempio perché alcuni messaggi precedenti non sono stati recapitati o sono stati segnalati come spam. Per cambiare le cose, contatta il mittente.',
    notFound: {
      title: 'Questo link non funziona',
      text: 'Potrebbe essere incompleto o non più valido. Prova con il link nell’ultima e-mail che hai ricevuto.',
    },
    gone: 'I dati a cui apparteneva sono stati cancellati, quindi non può più cambiare nulla. Rispondi all’e-mail in cui si trovava e chiedi al mittente di non scriverti più.',
    failed: {
      title: 'Qualcosa è andato storto',
      text: 'L’errore è nostro. Riprova tra qualche istante.',
    },
  },
  'zh-TW': {
    unsubscribe: {
      title: '取消訂閱',
      ask: '確定不再透過 {email} 接收 {project} 的電子報和優惠資訊嗎？',
      button: '取消訂閱',
    },
    unsubscribed: {
      title: '您已取消訂閱',
      text: '{project} 不會再寄送電子報和優惠資訊到 {email}。',
      note: '您主動要求的郵件（例如訂單或重設密碼）仍可能寄達。',
      again: '重新訂閱',
    },
    subscribe: {
      title: '訂閱',
      ask: '要讓 {project} 寄送電子報和優惠資訊到 {email} 嗎？',
      button: '訂閱',
    },
    subscribed: {
      title: '您已訂閱',
      text: '{project} 可以寄送電子報和優惠資訊到 {email}。您可以隨時取消訂閱。',
    },
    manage: {
      title: '電子郵件偏好設定',
      link: '管理電子郵件偏好設定',
      what: '{project} 的電子報和優惠資訊',
      on: '已訂閱',
      off: '未訂閱',
    },
    suppressed:
      '{project} 目前無法寄信到這個地址，可能是因為先前的郵件無法送達或被檢舉為垃圾郵件。如需變更，請聯絡寄件者。',
    notFound: {
      title: '這個連結無效',
      text: '連結可能不完整或已過期。請改用您最近收到的郵件中的連結。',
    },
    gone: '與它相關的資料已被刪除，因此它無法再變更任何設定。請直接回覆含有此連結的郵件，要求寄件者不再寄信給您。',
    failed: {
      title: '發生錯誤',
      text: '問題出在我們這邊，請稍後再試。',
    },
  },
  'zh-HK': {
    unsubscribe: {
      title: '取消訂閱',
      ask: '確定不再經 {email} 收取 {project} 的電子通訊和優惠資訊嗎？',
      button: '取消訂閱',
    },
    unsubscribed: {
      title: '您已取消訂閱',
      text: '{project} 不會再向 {email} 發送電子通訊和優惠資訊。',
      note: '您主動要求的電郵（例如訂單或重設密碼）仍可能送達。',
      again: '重新訂閱',
    },
    subscribe: {
      title: '訂閱',
      ask: '要讓 {project} 向 {email} 發送電子通訊和優惠資訊嗎？',
      button: '訂閱',
    },
    subscribed: {
      title: '您已訂閱',
      text: '{project} 可以向 {email} 發送電子通訊和優惠資訊。您可以隨時取消訂閱。',
    },
    manage: {
      title: '電郵偏好設定',
      link: '管理電郵偏好設定',
      what: '{project} 的電子通訊和優惠資訊',
      on: '已訂閱',
      off: '未訂閱',
    },
    suppressed:
      '{project} 目前無法向此地址發送電郵，可能是因為之前的電郵未能送達或被舉報為垃圾郵件。如要更改，請聯絡寄件人。',
    notFound: {
      title: '此連結無效',
      text: '連結可能不完整或已過期。請改用您最近收到的電郵中的連結。',
    },
    gone: '與它相關的資料已被刪除，因此它無法再更改任何設定。請直接回覆載有此連結的電郵，要求寄件人不再發送電郵給您。',
    failed: {
      title: '發生錯誤',
      text: '問題出在我們這邊，請稍後再試。',
    },
  },
  'zh-CN': {
    unsubscribe: {
      title: '退订',
      ask: '确定不再通过 {email} 接收 {project} 的资讯和优惠信息吗？',
      button: '退订',
    },
    unsubscribed: {
      title: '您已退订',
      text: '{project} 不会再向 {email} 发送资讯和优惠信息。',
      note: '您主动请求的邮件（例如订单或重设密码）仍可能送达。',
      again: '重新订阅',
    },
    subscribe: {
      title: '订阅',
      ask: '要让 {project} 向 {email} 发送资讯和优惠信息吗？',
      button: '订阅',
    },
    subscribed: {
      title: '您已订阅',
      text: '{project} 可以向 {email} 发送资讯和优惠信息。您可以随时退订。',
    },
    manage: {
      title: '邮件偏好设置',
      link: '管理邮件偏好设置',
      what: '{project} 的资讯和优惠信息',
      on: '已订阅',
      off: '未订阅',
    },
    suppressed:
      '{project} 目前无法向此地址发送邮件，可能是因为之前的邮件未能送达或被举报为垃圾邮件。如需更改，请联系发件人。',
    notFound: {
      title: '此链接无效',
      text: '链接可能不完整或已过期。请尝试使用您最近收到的邮件中的链接。',
    },
    gone: '与它相关的数据已被删除，因此它无法再更改任何设置。请直接回复包含此链接的邮件，要求发件人不再给您发邮件。',
    failed: {
      title: '出了点问题',
      text: '问题出在我们这边，请稍后再试。',
    },
  },
  ja: {
    unsubscribe: {
      title: '配信停止',
      ask: '{email} 宛ての {project} からのニュースレターやお得な情報の配信を停止しますか？',
      button: '配信を停止する',
    },
    unsubscribed: {
      title: '配信は停止されています',
      text: '{project} から {email} 宛てにニュースレターやお得な情報をお送りすることはありません。',
      note: 'ご注文やパスワードの再設定など、お手続きに関するメールは引き続き届く場合があります。',
      again: 'もう一度購読する',
    },
    subscribe: {
      title: '購読',
      ask: '{email} 宛てに {project} からのニュースレターやお得な情報をお送りしてもよろしいですか？',
      button: '購読する',
    },
    subscribed: {
      title: '購読中です',
      text: '{project} から {email} 宛てにニュースレターやお得な情報をお送りすることがあります。配信はいつでも停止できます。',
    },
    manage: {
      title: 'メールの配信設定',
      link: 'メールの配信設定を変更する',
      what: '{project} からのニュースレターやお得な情報',
      on: '購読中',
      off: '購読していません',
    },
    suppressed:
      '以前のメールが届かなかった、迷惑メールとして報告されたなどの理由により、現在 {project} からこのアドレスにメールを送信できません。変更をご希望の場合は、送信元にお問い合わせください。',
    notFound: {
      title: 'このリンクは使用できません',
      text: 'リンクが不完全か、無効になっている可能性があります。最近届いたメールのリンクをお試しください。',
    },
    gone: 'このリンクに関するデータは削除されたため、何も変更できません。リンクが記載されていたメールに返信し、配信の停止を送信者に依頼してください。',
    failed: {
      title: '問題が発生しました',
      text: 'こちら側で問題が発生しました。しばらくしてからもう一度お試しください。',
    },
  },
  sv: {
    unsubscribe: {
      title: 'Avsluta prenumerationen',
      ask: 'Ska {project} sluta skicka nyhetsbrev och erbjudanden till {email}?',
      button: 'Avsluta prenumerationen',
    },
    unsubscribed: {
      title: 'Prenumerationen är avslutad',
      text: '{project} skickar inte längre nyhetsbrev och erbjudanden till {email}.',
      note: 'Meddelanden om något som du själv har bett om, till exempel en beställning eller ett nytt lösenord, kan fortfarande komma.',
      again: 'Prenumerera igen',
    },
    subscribe: {
      title: 'Prenumerera',
      ask: 'Ska {project} skicka nyhetsbrev och erbjudanden till {email}?',
      button: 'Prenumerera',
    },
    subscribed: {
      title: 'Du prenumererar',
      text: '{project} får skicka nyhetsbrev och erbjudanden till {email}. Du kan avsluta prenumerationen när du vill.',
    },
    manage: {
      title: 'E-postinställningar',
      link: 'Hantera e-postinställningar',
      what: 'Nyhetsbrev och erbjudanden från {project}',
      on: 'Prenumererar',
      off: 'Prenumererar inte',
    },
    suppressed:
      'Just nu kan {project} inte skicka e-post till den här adressen, till exempel för att tidigare meddelanden inte kunde levereras eller anmäldes som skräppost. Kontakta avsändaren om du vill ändra på det.',
    notFound: {
      title: 'Länken fungerar inte',
      text: 'Den kan vara ofullständig eller för gammal. Prova länken i det senaste mejlet du har fått.',
    },
    gone: 'De uppgifter som den hörde till har raderats, så den kan inte längre ändra något. Svara på mejlet som den stod i och be avsändaren att sluta skriva till dig.',
    failed: {
      title: 'Något gick fel',
      text: 'Felet ligger hos oss. Försök igen om en stund.',
    },
  },
  cy: {
    unsubscribe: {
      title: 'Dad-danysgrifio',
      ask: 'A ddylai {project} roi’r gorau i anfon cylchlythyrau a chynigion i {email}?',
      button: 'Dad-danysgrifio',
    },
    unsubscribed: {
      title: 'Rydych wedi dad-danysgrifio',
      text: 'Nid yw {project} yn anfon cylchlythyrau a chynigion i {email} mwyach.',
      note: 'Gall negeseuon y gwnaethoch ofyn amdanynt, fel rhai am archeb neu gyfrinair newydd, ddal i gyrraedd.',
      again: 'Tanysgrifio eto',
    },
    subscribe: {
      title: 'Tanysgrifio',
      ask: 'A ddylai {project} anfon cylchlythyrau a chynigion i {email}?',
      button: 'Tanysgrifio',
    },
    subscribed: {
      title: 'Rydych wedi tanysgrifio',
      text: 'Gall {project} anfon cylchlythyrau a chynigion i {email}. Gallwch ddad-danysgrifio unrhyw bryd.',
    },
    manage: {
      title: 'Dewisiadau e-bost',
      link: 'Rheoli dewisiadau e-bost',
      what: 'Cylchlythyrau a chynigion gan {project}',
      on: 'Wedi tanysgrifio',
      off: 'Heb danysgrifio',
    },
    suppressed:
      'Ar hyn o bryd ni all {project} anfon e-byst i’r cyfeiriad hwn, er enghraifft am na ellid danfon negeseuon blaenorol neu am iddynt gael eu riportio fel sbam. Cysylltwch â’r anfonwr i newid hyn.',
    notFound: {
      title: 'Nid yw’r ddolen hon yn gweithio',
      text: 'Gall fod yn anghyflawn neu wedi dyddio. Rhowch gynnig ar y ddolen yn yr e-bost diweddaraf a gawsoch.',
    },
    gone: 'Mae’r data yr oedd yn perthyn iddo wedi’i ddileu, felly ni all newid dim mwyach. Atebwch yr e-bost yr oedd ynddo a gofynnwch i’r anfonwr beidio ag ysgrifennu atoch.',
    failed: {
      title: 'Aeth rhywbeth o’i le',
      text: 'Ni sydd ar fai. Rhowch gynnig arall arni ymhen ychydig.',
    },
  },
}
