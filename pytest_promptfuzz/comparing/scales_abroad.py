"""The scales of German, French, Spanish, Italian and Dutch; ``scales`` says what a line is."""

from __future__ import annotations

ABROAD = """
öffnen aufmachen geöffnet offen aufdrehen | schließen zumachen geschlossen zudrehen
ouvrir ouvert ouverte ouverts ouvertes ouvre | fermer fermé fermée fermés fermées ferme
abrir abierto abierta abiertos abiertas abre | cerrar cerrado cerrada cerrados cerradas cierra
aprire aperto aperta aperti aperte apre | chiudere chiuso chiusa chiusi chiuse chiude
openen geopend open | sluiten gesloten dicht
steigen steigt stieg gestiegen erhöhen erhöht erhöhte zunehmen wachsen anheben | sinken sinkt sank gesunken \
senken gesenkt senkt fallen gefallen abnehmen schrumpfen verringern reduzieren
augmenter augmente augmenté augmentation hausse monter | diminuer diminue diminué diminution baisse baisser \
réduire
aumentar aumenta aumentó aumentado subir sube subió aumento | disminuir disminuye disminuyó bajar baja bajó \
reducir reducción
aumentare aumenta aumentato salire salito crescere cresciuto aumento | diminuire diminuisce diminuito calare \
calato scendere sceso ridurre riduzione
stijgen stijgt gestegen toenemen verhogen verhoogd | dalen daalt gedaald afnemen verlagen verlaagd
bestätigt bestätigen bestätigte | dementiert dementieren bestritten abgestritten
confirmer confirmé confirme confirmée | démentir démenti dément nier nié
confirmar confirmado confirmó confirma | desmentir desmentido desmintió negar negó negado
confermare confermato conferma | smentire smentito smentisce negare negato
bevestigen bevestigd | ontkennen ontkend
erlaubt gestattet zulässig zugelassen erlauben gestatten | verboten untersagt unzulässig verbieten untersagen
autorisé autorisée permis permise autorisés admis | interdit interdite défendu interdits proscrit
permitido permitida autorizado autorizada | prohibido prohibida
permesso permessa consentito consentita ammesso | vietato vietata proibito proibita
toegestaan | verboden
genehmigt bewilligt angenommen zugestimmt | abgelehnt zurückgewiesen verworfen
accepté acceptée approuvé approuvée adopté validé | refusé refusée rejeté rejetée
aprobado aprobada aceptado aceptada | rechazado rechazada denegado denegada
approvato approvata accettato accettata accolto | respinto respinta rifiutato rifiutata
goedgekeurd aangenomen | afgewezen afgekeurd geweigerd
vor vorher zuvor bevor | nach nachher danach nachdem
avant | après
antes | después
prima | dopo
voor voordat | na nadat
sicher ungefährlich | gefährlich unsicher riskant
sûr | dangereux dangereuse
seguro segura | peligroso peligrosa inseguro
sicuro sicura | pericoloso pericolosa
veilig | gevaarlijk onveilig
gültig | ungültig abgelaufen
valide valable | invalide périmé
válido válida | inválido caducado
valido valida | scaduto scaduta
geldig | ongeldig verlopen
möglich | unmöglich
possible | impossible
posible | imposible
possibile | impossibile
mogelijk | onmogelijk
gut | schlecht
bon bonne | mauvais mauvaise
bueno buena buen | malo mala mal
buono buona | cattivo cattiva
goed | slecht
warm heiß | kalt kühl
chaud chaude | froid froide
caliente | frío fría
caldo calda | freddo fredda
groß größer | klein kleiner
grand grande | petit petite
grande | pequeño pequeña
grande | piccolo piccola
groot | klein
hoch höher | niedrig niedriger tief
haut haute élevé élevée | bas basse faible
alto alta | bajo
alto | basso bassa
hoog | laag
mehr | weniger
plus davantage | moins
más | menos
più | meno
meer | minder
schnell | langsam
rapide | lent lente
rápido rápida | lento lenta
veloce | lento
snel | langzaam
früh früher | spät später
tôt | tard
temprano | tarde
presto | tardi
vroeg | laat
gewonnen gewinnen gewann | verloren verlieren verlor
gagné gagner | perdu perdre
ganado ganar ganó | perdido perder perdió
vinto vincere | perso perdere
gewonnen | verloren
kaufen gekauft kauft | verkaufen verkauft
acheter acheté | vendre vendu
comprar comprado compró | vender vendido vendió
comprare comprato | vendere venduto
kopen gekocht | verkopen verkocht
mieter | vermieter
locataire | propriétaire bailleur
inquilino arrendatario | casero arrendador propietario
inquilino conduttore | locatore proprietario
huurder | verhuurder
käufer | verkäufer
acheteur | vendeur
comprador | vendedor
acquirente compratore | venditore
koper | verkoper
einschalten eingeschaltet anschalten | ausschalten ausgeschaltet abschalten
allumer allumé activer activé | éteindre éteint désactiver désactivé
encender encendido activar | apagar apagado desactivar
accendere acceso attivare | spegnere spento disattivare
inschakelen ingeschakeld aanzetten | uitschakelen uitgeschakeld uitzetten
pflicht verpflichtend obligatorisch vorgeschrieben erforderlich | freiwillig optional fakultativ freigestellt
obligatoire obligatoires | facultatif facultative facultatifs volontaire
obligatorio obligatoria | voluntario voluntaria opcional
obbligatorio obbligatoria | facoltativo facoltativa volontario
verplicht | vrijwillig optioneel
kostenlos gratis kostenfrei unentgeltlich | kostenpflichtig gebührenpflichtig
gratuit gratuite | payant payante
gratuito gratuita gratis | pago
gratuito gratuita gratis | pagamento
zufrieden | unzufrieden
satisfait satisfaite | insatisfait mécontent
satisfecho satisfecha | insatisfecho descontento
soddisfatto soddisfatta | insoddisfatto scontento
tevreden | ontevreden
schuldig | unschuldig
coupable | innocent innocente
culpable | inocente
colpevole | innocente
schuldig | onschuldig
wirksam | unwirksam wirkungslos
efficace | inefficace
eficaz | ineficaz
ja | nein
links | rechts
gauche | droite
izquierda | derecha
sinistra | destra
besser verbessern verbessert | schlechter verschlechtern verschlechtert
mieux meilleur meilleure améliorer amélioré | pire empirer aggraver aggravé
mejor mejorar mejorado mejoró | peor empeorar empeorado empeoró
meglio migliore migliorare migliorato | peggio peggiore peggiorare peggiorato
beter verbeterd | slechter verslechterd
""".strip()
