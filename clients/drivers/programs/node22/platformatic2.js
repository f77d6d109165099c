// Driver: platformatic-kafka-2, of the package @platformatic/kafka

// Releases 2.x need a newer Node than others, which comes with the package. The program is that of 1.x.
import './shared/platformatic.js'
